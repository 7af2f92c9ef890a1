/* --preemptions=K and --delays=K: all executions within a bound, and no others.
 *
 * Each step has a cost, and an execution may cost K at most.
 *
 *   preemptions   1 for a step of another thread than before, if the thread before could go on: it is enabled, and does not
 *                 wait for a signal (a timeout is no reason to call the switch a preemption). Else 0. (Musuvathi,
 *                 Qadeer 2007)
 *   delays        the number of enabled threads that are passed over. The scheduler goes on with the thread that ran last
 *                 while it is enabled, else with the next one by number, after the last comes the first. (Emmi, Qadeer,
 *                 Rakamaric 2011)
 *
 * The search is plain enumeration within the bound, without sleep sets and races, but it explores no *situation* twice: a
 * situation is the class of the prefix, the thread that ran last, and how much may still be spent. If the search has come to
 * the same class and thread with as much or more left, the execution ends there.
 *
 * Why nothing within the bound is lost. Let E and F be equivalent prefixes with the same last thread, let L(E) be what is
 * left after E, and L(E) >= L(F). Equivalent prefixes lead to the same state: what each thread has read is the same, and so
 * are memory, pending operations, enabled threads and waiting threads. The cost of the next step depends on the state and the
 * last thread. So whatever w extends F within the bound also extends E within the bound, with the same costs, and E.w is
 * equivalent to F.w: it ends in the same state with the same findings. By induction on the length of w: all classes of
 * executions that extend F within the bound are among those that extend E. E has been entered before F, and every branch of
 * each node that is entered will be explored, by this worker or another one. A node below E cannot be cut because of F or a
 * node below F in turn: all prefixes of one class have the same length, and the first one to be entered is never cut because
 * of later ones. So in the end each class with an execution within the bound has been explored. (Bounded partial-order
 * reduction, Coons et al. 2013, would leave out more executions, but needs conservative points; it is not used.)
 *
 * In a shared search each worker has its own table. What a worker has entered and then gives back is explored by another
 * worker. If a worker dies, its unfinished part is explored again by others, and its table is gone with it: what it has
 * reported as done was cut only because of nodes that are done, too, or that it has given back.
 *
 * Classes are compared by hashes of 128 bits (trace/class_hash.h). When the table is full, no more situations are added:
 * then more is explored twice.
 *
 * counters.beyond counts the branches that the bound has left out. If it is 0 in the end, the search is complete: at each
 * node that was entered everything enabled was explored, and each other prefix is equivalent to one that was entered. */
#include "base/region.h"
#include "engine/reduction.h"
#include "trace/class_hash.h"

#define MOST        (1u << 22) /* situations */
#define FIRST_SLOTS 1024u

struct situation {
    struct mz_class class; /* with the last thread */
    uint64_t left;         /* the most that was left */
};

struct mz_bounded {
    struct mz_class_hash hash;
    uint32_t *spent;              /* by node: by the steps before it */
    bool *goes_on;                /* by node: can the thread of the step before go on? */
    struct situation *situations; /* from 1 */
    struct mz_table table;
};

static void each_array(struct mz_exploration *x, void (*f)(void **array, size_t bytes))
{
    struct mz_bounded *b = x->bounded;
    size_t n = (size_t)x->trace.capacity + 1;
    f((void **)&b->spent, n * sizeof *b->spent);
    f((void **)&b->goes_on, n * sizeof *b->goes_on);
    f((void **)&b->situations, ((size_t)MOST + 1) * sizeof *b->situations);
    f((void **)&b->table.slots, (size_t)4 * MOST * sizeof *b->table.slots);
}

void mz_bounded_init(struct mz_exploration *x)
{
    struct mz_bounded *b = x->bounded = mz_region_reserve(sizeof *b);
    MZ_ASSERT(b != NULL);
    b->hash.thread_name = x->options.thread_name;
    b->hash.system = x->options.system;
    mz_class_hash_init(&b->hash, x->trace.capacity);
    each_array(x, mz_array_reserve);
    b->table.mask = FIRST_SLOTS - 1;
}

void mz_bounded_release(struct mz_exploration *x)
{
    each_array(x, mz_array_release);
    mz_class_hash_release(&x->bounded->hash);
    mz_region_free(x->bounded, sizeof *x->bounded);
}

void mz_bounded_clear(struct mz_exploration *x)
{
    struct mz_table *t = &x->bounded->table;
    mz_table_clear(t, t->mask + 1);
    x->counters.beyond = 0;
}

uint64_t mz_bounded_memory(const struct mz_exploration *x)
{
    const struct mz_table *t = &x->bounded->table;
    return t->count * sizeof(struct situation) + ((uint64_t)t->mask + 1) * sizeof *t->slots;
}

/* ---- costs ---- */

static int thread_before(const struct mz_exploration *x, uint32_t k)
{
    return k ? x->trace.events[k - 1].thread : -1;
}

/* Enabled threads that the scheduler would take before this one. */
static uint32_t passed_over(uint64_t enabled, int last, int thread)
{
    uint64_t before = mz_bit(thread) - 1;
    uint64_t wrapped = last < 0 ? 0 : mz_bit(last) - 1; /* their turn comes after the highest number */
    if (last >= 0 && thread < last) return (uint32_t)__builtin_popcountll(enabled & (~wrapped | before));
    return (uint32_t)__builtin_popcountll(enabled & before & ~wrapped);
}

/* The cost of a step of this thread at node k. */
static uint32_t cost(const struct mz_exploration *x, uint32_t k, int thread)
{
    int last = thread_before(x, k);
    if (x->options.bound == MZ_BOUND_DELAYS) return passed_over(x->nodes[k].enabled, last, thread);
    return x->bounded->goes_on[k] && thread != last;
}

/* ---- situations ---- */

static inline bool is_situation(const void *situations, uint32_t number, const void *wanted)
{
    const struct mz_class *c = &((const struct situation *)situations)[number].class, *w = wanted;
    return c->a == w->a && c->b == w->b;
}

static inline uint32_t hash_of(const void *situations, uint32_t number)
{
    return mz_table_hash(((const struct situation *)situations)[number].class.a);
}

static bool is_full(const struct mz_exploration *x)
{
    uint64_t limit = x->options.memory_limit;
    return x->bounded->table.count == MOST || (limit && mz_bounded_memory(x) > limit / 2);
}

/* Has the search come from node k's situation before, with as much left? If not, remember it. */
static bool was_there(struct mz_exploration *x, uint32_t k)
{
    struct mz_bounded *b = x->bounded;
    uint64_t left = x->options.bound_limit - b->spent[k];
    struct mz_class c = b->hash.forms[k];
    c.a += (uint64_t)(thread_before(x, k) + 2) * 0x9e3779b97f4a7c15u;
    uint32_t *slot = mz_table_find(&b->table, mz_table_hash(c.a), is_situation, b->situations, &c);
    if (*slot) {
        struct situation *s = &b->situations[*slot];
        if (s->left >= left) return true;
        s->left = left;
        return false;
    }
    if (is_full(x)) return false;
    if (mz_table_is_half_full(&b->table)) {
        mz_table_grow(&b->table, hash_of, b->situations);
        slot = mz_table_find(&b->table, mz_table_hash(c.a), is_situation, b->situations, &c);
    }
    mz_table_fill(&b->table, slot, b->table.count + 1);
    b->situations[*slot] = (struct situation){c, left};
    return false;
}

/* ---- the reduction ---- */

/* For each thread that is alive at the new node. */
static void pending(struct mz_exploration *x, int thread)
{
    if (thread != x->last_thread) return;
    x->bounded->goes_on[x->path.depth] = x->view->enabled & ~x->view->waiting & mz_bit(thread);
}

static struct mz_step enter(struct mz_exploration *x, uint32_t k)
{
    struct mz_node *n = &x->nodes[k];
    uint32_t left = x->options.bound_limit - x->bounded->spent[k];
    uint64_t within = 0;
    if (was_there(x, k)) return (struct mz_step){.thread = MZ_NOBODY};
    for (uint64_t t = n->enabled; t; t &= t - 1)
        if (cost(x, k, __builtin_ctzll(t)) <= left) within |= t & -t;
    x->counters.beyond += (uint64_t)__builtin_popcountll(n->enabled & ~within);
    n->backtrack = within;
    return mz_default_step_of(x, k, within);
}

static void event(struct mz_exploration *x, mz_number n, uint32_t races)
{
    struct mz_bounded *b = x->bounded;
    (void)races;
    if (!n) return;
    mz_class_hash_event(&b->hash, &x->trace, n);
    b->spent[n] = b->spent[n - 1] + cost(x, n - 1, mz_event_at(&x->trace, n)->thread);
    b->goes_on[n] = false;
}

static void end(struct mz_exploration *x) { (void)x; }

const struct mz_reduction mz_reduction_bounded = {
    .uses_backtrack_sets = true,
    .ignores_races = true,
    .enter = enter,
    .event = event,
    .pending = pending,
    .end = end,
    .next = mz_next_in_backtrack,
};
