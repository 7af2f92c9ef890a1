/* The light-weight scheme of 2008 for local states.
 *
 * --state-capture=delta: a local state is not looked at as a whole but known by a number; what a step changes
 * of it, its delta, leads from one number to the next (2008, Fig. 4). So local states that are the same but
 * came about in different ways have different numbers. Here to be measured against. */
#include "liveness.h"
#include "state.h"

#include "../base/region.h"

#define WORDS  4096u /* of a local state; the delta of a larger one counts as unknown */
#define DELTAS (1u << 22)

struct numbered { /* the local state of a thread at the last node where it had run */
    uint64_t id;
    uint64_t count;
    uint64_t words[WORDS]; /* registers, then its stack from the top down */
};

static struct {
    struct numbered *threads;
    struct {
        struct mz_state key; /* number before and delta */
        uint64_t id;
    } * table; /* open addressing */
    uint64_t used, ids;
} de;

void mz_delta_init(void)
{
    if (rt.channel->options.state_capture != MZ_CAPTURE_DELTA) return;
    de.threads = mz_region_reserve(MZ_SLOTS * sizeof *de.threads);
    de.table = mz_region_reserve(DELTAS * sizeof *de.table);
    MZ_ASSERT(de.threads && de.table);
}

/* At the start all threads are in the state with the number 0. */
void mz_delta_begin(void)
{
    for (int s = 0; de.threads && s < MZ_SLOTS; s++) de.threads[s].id = de.threads[s].count = 0;
}

static uint64_t collect(int slot, uint64_t *words)
{
    struct mz_stack s;
    const struct mz_parked *p = mz_state_stack(slot, &s);
    const struct mz_thread *t = &rt.run.threads[slot];
    const uint64_t *high = s.high, *from = t->simple ? s.entered - 1 : s.first; /* as in state.c */
    uint32_t live = s.registers;
    const uint64_t registers[] = {p->rbx, p->r12, p->r13, p->r14, p->r15};
    const unsigned numbers[] = {3, 12, 13, 14, 15};
    uint64_t n = 0;
    words[n++] = live;
    for (unsigned i = 0; i < 5; i++) words[n++] = live & 1u << numbers[i] ? registers[i] : 0;
    for (unsigned i = 0; i < 3; i++) words[n++] = t->simple ? t->operands[i] : 0;
    uint64_t *first = words + n;
    while (high > from + 1 && n < WORDS) words[n++] = *--high;
    if (high > from + 1) return WORDS + 1;
    for (unsigned i = 0; i < s.count; i++) { /* what is dead is left out, as by the other scheme */
        const struct mz_live *l = s.frames[i].live;
        for (unsigned w = 0; l && w < l->words; w++) first[s.high - s.frames[i].base + w] &= l->mask[w];
    }
    return n;
}

/* NEXTLOCAL, lines 5 to 7 */
static uint64_t next_id(uint64_t id, int slot, struct mz_state delta)
{
    mz_hash_add(&delta, mz_hash_of(id << 8 | (unsigned)slot, 1));
    uint64_t i = delta.hash[0] % DELTAS;
    for (; de.table[i].id; i = (i + 1) % DELTAS)
        if (de.table[i].key.hash[0] == delta.hash[0] && de.table[i].key.hash[1] == delta.hash[1])
            return de.table[i].id;
    if (++de.used > DELTAS / 2) return ++de.ids;
    de.table[i].key = delta;
    return de.table[i].id = ++de.ids;
}

uint64_t mz_delta_id(int slot)
{
    static uint64_t words[WORDS + 1];
    struct numbered *t = &de.threads[slot];
    uint64_t n = collect(slot, words), common = n < t->count ? n : t->count;
    struct mz_state delta = {{0, 0}};
    bool unknown = n > WORDS || rt.writes_unknown, changed = n != t->count;
    for (uint64_t i = 0; i < n && !unknown; i++) {
        if (i < common && words[i] == t->words[i]) continue;
        changed = true;
        mz_hash_add(&delta, mz_hash_of(i, words[i]));
    }
    if (!unknown && !changed) return t->id;
    mz_hash_add(&delta, mz_hash_of(WORDS, n));
    mz_keep(t, offsetof(struct numbered, words) + t->count * sizeof *t->words);
    t->id = unknown ? ++de.ids : next_id(t->id, slot, delta);
    t->count = unknown ? 0 : n;
    mz_raw_memcpy(t->words, words, t->count * sizeof *words);
    return t->id;
}
