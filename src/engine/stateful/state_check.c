/* Do states with one identity have the same future? For tests (options.check_states): stateful algorithms end
 * an execution at a state that was visited before, and trust that nothing new can follow. This file checks
 * that.
 *
 * When an execution comes to a known state, it goes on instead: first by all steps (check_states of them, one
 * after the other), then by random steps up to the end or for WALK steps. For every step that was ever taken
 * from a state, by the search or in such a walk, this file knows which state it led to. The same step from a
 * state with the same identity must lead to the same state. If it does not, part of what the future depends
 * on is not in the identity (options.state), and the system is told both schedules.
 *
 * Only the outlines of the two states (options.state_outline) must be the same. Their identities may differ in
 * values that the program will never read, such as uninitialised variables: these can appear with the step,
 * without being in the identity of the state before it. The walk then goes on as if it had come to the known
 * state.
 *
 * A walk belongs to no execution: it is not counted, its events are not shown to the reduction, and when all
 * its branches are done, the execution ends where it came to the known state. */
#include <string.h>
#include "engine/stateful/stateful.h"
#include "base/mix.h"
#include "base/region.h"
#include "base/table.h"

#define STEPS     (1u << 22) /* most steps in the table */
#define WALK      64u
#define SCHEDULES ((size_t)1 << 34)

struct known { /* a step from a state */
    uint64_t key[2];
    struct mz_state to, outline; /* the state that the step led to */
    uint64_t schedule;
    uint32_t length; /* of the schedule up to it */
};

struct mz_state_check {
    struct mz_state *at; /* identity of each node */
    struct known *table; /* base/table.h */
    struct mz_step *schedules;
    uint64_t schedule_end;
    uint32_t count;
    uint32_t base; /* node where the walk began, plus one; 0: there is none */
    uint64_t random;
};

struct mz_state_check *mz_recheck_new(const struct mz_exploration *x)
{
    struct mz_state_check *c = mz_region_reserve(sizeof *c);
    MZ_ASSERT(c != NULL);
    c->at = mz_region_reserve((size_t)(x->trace.capacity + 1) * sizeof *c->at);
    c->table = mz_region_reserve(STEPS * sizeof *c->table);
    c->schedules = mz_region_reserve(SCHEDULES);
    MZ_ASSERT(c->at && c->table && c->schedules);
    return c;
}

void mz_recheck_free(const struct mz_exploration *x, struct mz_state_check *c)
{
    mz_region_free(c->at, (size_t)(x->trace.capacity + 1) * sizeof *c->at);
    mz_region_free(c->table, STEPS * sizeof *c->table);
    mz_region_free(c->schedules, SCHEDULES);
    mz_region_free(c, sizeof *c);
}

/* The search starts over. */
void mz_recheck_clear(struct mz_state_check *c)
{
    memset(c->table, 0, STEPS * sizeof *c->table);
    c->count = 0;
    c->schedule_end = 0;
    c->base = 0;
}

bool mz_recheck_walks(const struct mz_exploration *x)
{
    return x->stateful && x->stateful->check && x->stateful->check->base;
}

/* ---- steps that are known ---- */

static void key_of(uint64_t *key, struct mz_state from, struct mz_step step)
{
    struct mz_mix mix = {{0, 0}, 2};
    uint64_t words[4] = {from.hash[0], from.hash[1], (uint64_t)step.thread << 8 | step.choice, 0};
    mz_mix_words(&mix, words, words + 4);
    key[0] = mix.hash[0] | 1; /* 0 is none */
    key[1] = mix.hash[1];
}

static struct known *find(struct mz_state_check *c, const uint64_t *key)
{
    return mz_wide_key_find(c->table, sizeof *c->table, STEPS - 1, key);
}

/* Keep the steps of the execution up to node k: the report of a difference prints them. */
static void keep_schedule(const struct mz_exploration *x, struct known *s, uint32_t k)
{
    struct mz_state_check *c = x->stateful->check;
    if ((c->schedule_end + k) * sizeof *c->schedules > SCHEDULES) return;
    s->schedule = c->schedule_end;
    s->length = k;
    memcpy(c->schedules + s->schedule, x->path.steps, k * sizeof *c->schedules);
    c->schedule_end += k;
}

static void differs(const struct mz_exploration *x, const struct known *s, uint32_t k)
{
    const struct mz_state_check *c = x->stateful->check;
    if (!x->options.state_differs) MZ_BUG("states with one identity have different futures");
    x->options.state_differs(x->options.system, c->schedules + s->schedule, s->length, x->path.steps, k);
}

/* The execution has come to node k. */
void mz_recheck_node(struct mz_exploration *x, uint32_t k)
{
    struct mz_state_check *c = x->stateful->check;
    struct mz_state outline;
    uint64_t key[2];
    x->options.state(x->options.system, &c->at[k]);
    if (!k) return;
    if (x->options.state_is_unique && x->options.state_is_unique(x->options.system)) return;
    outline = c->at[k];
    if (x->options.state_outline) x->options.state_outline(x->options.system, &outline);
    key_of(key, c->at[k - 1], x->path.steps[k - 1]);
    struct known *s = find(c, key);
    if (s->key[0]) {
        if (s->outline.hash[0] != outline.hash[0] || s->outline.hash[1] != outline.hash[1]) differs(x, s, k);
        c->at[k] = s->to;
    } else if (c->count < STEPS / 2) {
        c->count++;
        *s = (struct known){.key = {key[0], key[1]}, .to = c->at[k], .outline = outline};
        keep_schedule(x, s, k);
    }
}

/* ---- walks ---- */

static uint64_t random_below(struct mz_state_check *c, uint64_t n)
{
    c->random = c->random * 6364136223846793005u + 1442695040888963407u;
    return (c->random >> 33) % n;
}

static int pick(struct mz_state_check *c, uint64_t set)
{
    for (uint64_t skip = random_below(c, (uint64_t)__builtin_popcountll(set)); skip; skip--) set &= set - 1;
    return __builtin_ctzll(set);
}

static bool all_steps(const struct mz_exploration *x, uint32_t k)
{
    return k - (x->stateful->check->base - 1) < x->options.check_states;
}

/* The next step of a walk from node k; nobody: it ends there. */
struct mz_step mz_recheck_step(struct mz_exploration *x, uint32_t k)
{
    struct mz_state_check *c = x->stateful->check;
    struct mz_node *n = &x->nodes[k];
    if (!n->enabled || k + 4 >= x->trace.capacity || k - (c->base - 1) >= x->options.check_states + WALK)
        return (struct mz_step){.thread = MZ_NOBODY};
    bool all = all_steps(x, k);
    int thread = all ? __builtin_ctzll(n->enabled) : pick(c, n->enabled);
    uint64_t choices = x->view->pending[thread].choices;
    int choice = all ? __builtin_ctzll(choices) : pick(c, choices);
    n->choices = all ? choices & (choices - 1) : 0;
    n->step = (struct mz_step){.thread = (uint8_t)thread, .choice = (uint8_t)choice};
    return n->step;
}

/* Is there another step to take from node k? */
static bool next_branch(struct mz_exploration *x, uint32_t k)
{
    struct mz_node *n = &x->nodes[k];
    if (!all_steps(x, k)) return false;
    if (n->choices) {
        n->step.choice = (uint8_t)__builtin_ctzll(n->choices);
        n->choices &= n->choices - 1;
        return true;
    }
    n->done |= mz_bit(n->step.thread);
    if (!(n->enabled & ~n->done)) return false;
    n->step = (struct mz_step){.thread = (uint8_t)__builtin_ctzll(n->enabled & ~n->done), .choice = MZ_ANY};
    return true;
}

/* The execution has come to a known state at node k: begin a walk there. Return false if there is no step to
 * take. */
bool mz_recheck_begin(struct mz_exploration *x, uint32_t k)
{
    struct mz_state_check *c = x->stateful->check;
    if (mz_likely(!c)) return false;
    c->base = k + 1;
    if (mz_recheck_step(x, k).thread != MZ_NOBODY) return true;
    c->base = 0;
    return false;
}

/* The walk has ended. Put the node where it has another branch into *node. Return false if there is none:
 * then the execution has ended where the walk began. */
bool mz_recheck_next(struct mz_exploration *x, uint32_t *node)
{
    struct mz_state_check *c = x->stateful->check;
    uint32_t base = c->base - 1;
    for (uint32_t k = x->path.depth; k-- > base;)
        if (next_branch(x, k)) {
            *node = k;
            return true;
        }
    c->base = 0;
    x->path.depth = base;
    return false;
}
