/* Finds classes by swapping adjacent steps, see swap.h.
 *
 * Two adjacent steps of different threads are independent if the second was possible before the first, as the
 * same event, and if they are on different objects, or both read, or both share. (A section is also dependent
 * with every step on a variable. Awaits and channels: machine_wait.c.) */
#include <stdlib.h>
#include <string.h>
#include "swap.h"

struct step {
    uint8_t thread, choice;
};

struct sequence {
    struct step steps[MZ_SWAP_STEPS];
    uint32_t length;
    uint32_t parent; /* in the forest of joined sequences */
};

struct swaps {
    struct mz_machine machine;
    struct sequence *all;
    uint32_t count, max;
    struct mz_set index; /* hash of the steps -> position in `all` */
};

static struct mz_hash hash_of(const struct sequence *q)
{
    return mz_hash_bytes(q->steps, q->length * (uint32_t)sizeof *q->steps);
}

static bool keep(struct swaps *w, const struct sequence *q)
{
    bool added;
    if (w->count == w->max) return false;
    w->all[w->count] = *q;
    w->all[w->count].parent = w->count;
    mz_set_add(&w->index, hash_of(q), &added)->value = w->count;
    w->count++;
    return true;
}

/* All interleavings that start with q, which leads to s. */
static bool enumerate(struct swaps *w, const struct mz_machine_state *s, struct sequence *q)
{
    bool end = true;
    for (int t = 0; t < w->machine.m->thread_count; t++) {
        unsigned choices = mz_machine_choices(&w->machine, s, t);
        for (; choices; choices &= choices - 1) {
            struct mz_machine_state next = *s;
            if (q->length == MZ_SWAP_STEPS) return false;
            end = false;
            q->steps[q->length++] = (struct step){(uint8_t)t, (uint8_t)__builtin_ctz(choices)};
            mz_machine_step(&w->machine, &next, t, __builtin_ctz(choices));
            if (!enumerate(w, &next, q)) return false;
            q->length--;
        }
    }
    return !end || keep(w, q);
}

static uint32_t root(struct swaps *w, uint32_t i)
{
    while (w->all[i].parent != i) i = w->all[i].parent = w->all[w->all[i].parent].parent;
    return i;
}

/* Are the steps p and then q, possible in s, independent? `after_p` is the state between them. */
static bool independent(struct swaps *w, const struct mz_machine_state *s,
                        const struct mz_machine_state *after_p, struct step p, struct step q)
{
    struct mz_machine *k = &w->machine;
    if (p.thread == q.thread || !(mz_machine_choices(k, s, q.thread) & 1u << q.choice)) return false;
    int other = mz_machine_object(k, after_p, q.thread);
    if (other != mz_machine_object(k, s, q.thread)) return false; /* p woke q: it had a timeout before */
    return !mz_machine_dependent(k, s, p.thread, after_p, q.thread);
}

/* Do q and then p lead to the same state as p and then q did? */
static bool commute(struct swaps *w, const struct mz_machine_state *s,
                    const struct mz_machine_state *after_both, struct step p, struct step q)
{
    struct mz_machine_state other = *s;
    mz_machine_step(&w->machine, &other, q.thread, q.choice);
    if (!(mz_machine_choices(&w->machine, &other, p.thread) & 1u << p.choice)) return false;
    mz_machine_step(&w->machine, &other, p.thread, p.choice);
    return mz_machine_check(&w->machine, &other) == mz_machine_check(&w->machine, after_both);
}

/* Joins sequence i with all that are one swap away; false if some swap fails. */
static bool join_neighbours(struct swaps *w, uint32_t i)
{
    struct sequence q = w->all[i];
    struct mz_machine_state s, next, after;
    mz_machine_start(&w->machine, &s);
    for (uint32_t j = 0; j + 1 < q.length; j++, s = next) {
        struct step first = q.steps[j], second = q.steps[j + 1];
        next = s;
        mz_machine_step(&w->machine, &next, first.thread, first.choice);
        if (!independent(w, &s, &next, first, second)) continue;
        after = next;
        mz_machine_step(&w->machine, &after, second.thread, second.choice);
        if (!commute(w, &s, &after, first, second)) return false;
        q.steps[j] = second, q.steps[j + 1] = first;
        bool added;
        uint64_t other = mz_set_add(&w->index, hash_of(&q), &added)->value;
        q.steps[j] = first, q.steps[j + 1] = second;
        if (added) return false;
        w->all[root(w, i)].parent = root(w, (uint32_t)other);
    }
    return true;
}

static enum mz_swap_answer count_classes(struct swaps *w, uint32_t *classes)
{
    *classes = 0;
    for (uint32_t i = 0; i < w->count; i++)
        if (!join_neighbours(w, i)) return MZ_SWAP_WRONG;
    for (uint32_t i = 0; i < w->count; i++) *classes += root(w, i) == i;
    return MZ_SWAP_DONE;
}

enum mz_swap_answer mz_swap_classes(const struct mz_model *m, bool sections, uint32_t max, uint32_t *classes)
{
    struct swaps w = {.max = max, .all = malloc(max * sizeof *w.all)};
    struct sequence q = {.length = 0};
    struct mz_machine_state start;
    enum mz_swap_answer answer = MZ_SWAP_TOO_LARGE;
    memset(q.steps, 0, sizeof q.steps);
    mz_set_clear(&w.index);
    mz_machine_init(&w.machine, m, sections);
    mz_machine_start(&w.machine, &start);
    if (w.all && enumerate(&w, &start, &q)) answer = count_classes(&w, classes);
    mz_set_free(&w.index);
    free(w.all);
    return answer;
}
