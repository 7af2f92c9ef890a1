/* Persistent sets from what each thread may still do: the "static" partial-order reduction of 2005, section 5.
 *
 * A set T of threads is persistent at a state if nothing that the other threads can do, without a step of T, conflicts
 * with the next operation of a thread of T. Exploring T is enough there (Godefroid 1996, Theorem 4.3 and 6.14).
 *
 * What can a thread do? A *point* is a thread with the place (pc) and kind of its pending operation. Points are the nodes
 * of a graph. An edge leads from a point to the point that the same thread reaches next. Each point has *accesses*: the
 * regions that its operation has been seen to access. A region is a whole array or object (options.region), because that
 * is as exact as a static analysis is. A point also has the threads that its step creates. So the future of a thread
 * is the set of all accesses that can be reached from its point, and those of the threads that it may still create.
 *
 * The graph is not computed from the code but learned: when a thread is about to leave what the graph says, the graph grows,
 * and the search starts over (trace.outdated). The graph never shrinks, and a program has finitely many points and
 * regions, so this ends.
 *
 * Why nothing is missed: let the search end without growth, and suppose that some execution leaves the graph. Take the
 * first such step, of thread t. Everything before stays in the graph, so the sets are persistent for it, and the search
 * has explored an execution with the same steps of t up to there (the order of independent steps may differ). There the
 * same operation of t was pending, and mz_persistent_node() has seen it. A contradiction.
 *
 * So the edges of t may depend only on the steps of t and of its creators, not on the thread that woke t. Two independent
 * steps may both be needed for t to go on: the end of the thread that t joins, and the last operation of t. Which of
 * them comes last depends on their order (tests/random/corpus/static-woken.model).
 *
 * Which threads can conflict with T: all that are alive. A thread without a pending operation (it waits to be woken, or to
 * join) has what follows its last point as its future. If a thread that conflicts is not enabled, all enabled threads
 * are taken: this is the simplest set of threads that could enable it.
 *
 * Invariants
 *  S1  Whenever `grown` is false: reach of a point is the union of the accesses of all points that it leads to, itself
 *      included; `after` is the union of reach of the points that come next; `creates` has all threads that the step of
 *      the point and what follows it create, and the threads that those create.
 *  S2  If the graph is full, `full` is set, the search starts over, and every set is all enabled threads. */
#include "engine/persistent.h"
#include "base/region.h"

#define POINTS   4096u
#define ACCESSES 1024u
#define WORDS    (ACCESSES / 64)

struct access {
    uint64_t region;
    uint32_t object; /* of the trace */
    uint8_t how;     /* READS or WRITES: locks that are shared count as written */
    bool memory, section;
};

struct point {
    uint64_t key;
    uint64_t own[WORDS], reach[WORDS], after[WORDS]; /* sets of accesses */
    uint64_t next[POINTS / 64];
    uint64_t spawns, creates; /* sets of threads: by its own step; from there on */
};

struct mz_persistent {
    uint32_t point_count, access_count; /* from 1 */
    bool grown, full;
    uint32_t united;                 /* trace.united when accesses were compared */
    uint8_t creator[MZ_MAX_THREADS]; /* plus one; always the same (program.h, P3) */
    uint32_t start[MZ_MAX_THREADS]; /* the point of the thread before its first operation; 0: not known yet */
    struct point points[POINTS];
    struct access accesses[ACCESSES];
    uint64_t conflicts[ACCESSES][WORDS];
    uint32_t table[2 * POINTS];
    /* Of each node and thread: its point, its last one if it has no pending operation. */
    uint32_t here[][MZ_MAX_THREADS];
};

static size_t size_of(const struct mz_exploration *x)
{
    return sizeof(struct mz_persistent) + (size_t)(x->trace.capacity + 1) * MZ_MAX_THREADS * sizeof(uint32_t);
}

struct mz_persistent *mz_persistent_new(const struct mz_exploration *x)
{
    struct mz_persistent *p = mz_region_reserve(size_of(x));
    MZ_ASSERT(p != NULL);
    p->point_count = p->access_count = 1;
    return p;
}

void mz_persistent_free(const struct mz_exploration *x, struct mz_persistent *p)
{
    mz_region_free(p, size_of(x));
}

static void clear(void *from, size_t bytes)
{
    for (size_t i = 0; i < bytes / 8; i++) ((uint64_t *)from)[i] = 0;
}

void mz_persistent_reuse(struct mz_persistent *p)
{
    clear(p->points, p->point_count * sizeof *p->points);
    clear(p->conflicts, p->access_count * sizeof *p->conflicts);
    clear(p->table, sizeof p->table);
    clear(p->creator, sizeof p->creator);
    clear(p->start, sizeof p->start);
    p->point_count = p->access_count = 1;
    p->grown = p->full = false;
}

/* ---- sets ---- */

static bool has(const uint64_t *set, uint32_t i) { return set[i / 64] >> i % 64 & 1; }

/* Returns whether i is new in the set. */
static bool add(uint64_t *set, uint32_t i)
{
    bool was = has(set, i);
    set[i / 64] |= UINT64_C(1) << i % 64;
    return !was;
}

static bool meet(const uint64_t *a, const uint64_t *b)
{
    uint64_t both = 0;
    for (uint32_t w = 0; w < WORDS; w++) both |= a[w] & b[w];
    return both != 0;
}

/* ---- the graph ---- */

/* Returns 0 if the graph is full. */
static uint32_t point_of(struct mz_persistent *p, int thread, const struct mz_pending *pending)
{
    uint64_t key = (pending->pc << 14 | (uint64_t)pending->op << 6 | (uint64_t)thread) + 1;
    uint32_t i = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 51) % (2 * POINTS);
    for (; p->table[i]; i = (i + 1) % (2 * POINTS))
        if (p->points[p->table[i]].key == key) return p->table[i];
    if (p->point_count == POINTS) {
        p->full = true;
        return 0;
    }
    p->grown = true;
    p->table[i] = p->point_count++;
    p->points[p->table[i]].key = key;
    return p->table[i];
}

/* At least what the trace takes to be dependent: one object of the trace may stand for several regions. */
static bool do_conflict(const struct mz_trace *tr, const struct access *a, const struct access *b)
{
    bool same =
        a->region == b->region || mz_object_resolve(tr, a->object) == mz_object_resolve(tr, b->object);
    if ((a->section && b->memory) || (b->section && a->memory)) return true;
    return same && a->section == b->section && (a->how == MZ_WRITES || b->how == MZ_WRITES);
}

static void compare_access(const struct mz_trace *tr, struct mz_persistent *p, uint32_t new)
{
    for (uint32_t i = 1; i <= new; i++)
        if (do_conflict(tr, &p->accesses[new], &p->accesses[i])) {
            add(p->conflicts[new], i);
            add(p->conflicts[i], new);
        }
}

/* Objects that become one stay one, so conflicts only grow. */
static void compare_again(struct mz_exploration *x)
{
    struct mz_persistent *p = x->persistent;
    if (p->united == x->trace.united) return;
    p->united = x->trace.united;
    for (uint32_t i = 1; i < p->access_count; i++) compare_access(&x->trace, p, i);
    if (p->access_count > 1) x->trace.outdated = true;
}

/* Returns 0 if the graph is full. */
static uint32_t access_of(const struct mz_trace *tr, struct mz_persistent *p, const struct access *a)
{
    for (uint32_t i = 1; i < p->access_count; i++) {
        const struct access *b = &p->accesses[i];
        if (a->region == b->region && a->object == b->object && a->how == b->how && a->memory == b->memory &&
            a->section == b->section)
            return i;
    }
    if (p->access_count == ACCESSES) {
        p->full = true;
        return 0;
    }
    uint32_t new = p->access_count++;
    p->accesses[new] = *a;
    compare_access(tr, p, new);
    return new;
}

/* The access of a pending operation, as wide as it can be: 0 if it has none. */
static uint32_t pending_access(struct mz_exploration *x, const struct mz_pending *pending)
{
    const struct mz_explore_options *o = &x->options;
    struct access a = {.how = (uint8_t)mz_ops[pending->op].access};
    if (mz_ops[pending->op].object == MZ_OBJECT_NOTHING) return 0;
    if (a.how != MZ_READS || x->trace.all_writes) a.how = MZ_WRITES; /* the same relation as DPOR's */
    a.section =
        pending->op == MZ_OP_SECTION || pending->op == MZ_OP_AWAIT; /* an await: as if it read all memory */
    a.memory = mz_op_in(MZ_OPS_ATOMIC | MZ_OPS_WAITERS, pending->op);
    if (!a.section) a.region = o->region ? o->region(o->system, pending->key) : pending->key;
    a.object = mz_object_of(&x->trace, pending);
    return access_of(&x->trace, x->persistent, &a);
}

/* Add what follows point i to it; is that new? */
static bool pull(struct mz_persistent *p, uint32_t i)
{
    struct point *from = &p->points[i];
    uint64_t creates = from->creates;
    bool more = false;
    for (uint32_t w = 0; w < (p->point_count + 63) / 64; w++)
        for (uint64_t left = from->next[w]; left; left &= left - 1) {
            const struct point *to = &p->points[w * 64 + (uint32_t)__builtin_ctzll(left)];
            for (uint32_t v = 0; v < WORDS; v++) {
                more |= (to->reach[v] & ~from->after[v]) != 0;
                from->after[v] |= to->reach[v];
                from->reach[v] |= to->reach[v];
            }
            creates |= to->creates;
        }
    for (uint64_t t = creates; t; t &= t - 1) creates |= p->points[p->start[__builtin_ctzll(t)]].creates;
    more |= creates != from->creates;
    from->creates = creates;
    return more;
}

/* S1 */
static void settle(struct mz_persistent *p)
{
    for (uint32_t i = 1; i < p->point_count; i++) {
        for (uint32_t w = 0; w < WORDS; w++) p->points[i].reach[w] = p->points[i].own[w];
        clear(p->points[i].after, sizeof p->points[i].after);
        p->points[i].creates = p->points[i].spawns;
    }
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = p->point_count; --i > 0;) more |= pull(p, i);
    }
    p->grown = false;
}

static void lead(struct mz_persistent *p, uint32_t from, uint32_t to)
{
    if (from && to && add(p->points[from].next, to)) p->grown = true;
}

void mz_persistent_spawn(struct mz_exploration *x, int thread, int child)
{
    x->persistent->creator[child] = (uint8_t)(thread + 1);
}

static uint32_t start_of(struct mz_persistent *p, int thread)
{
    static const struct mz_pending at_start = {.op = MZ_OP_NONE};
    if (!p->start[thread]) p->start[thread] = point_of(p, thread, &at_start);
    return p->start[thread];
}

/* The thread is new in this execution: note where it was created. If its creator is new, too, the creator may have ended
 * within the same step, so that no node has seen it alive. */
static void note_new(struct mz_persistent *p, int thread, const uint32_t *before)
{
    int creator = p->creator[thread] - 1;
    if (!start_of(p, thread) || creator < 0) return;
    uint32_t from = before ? before[creator] : 0;
    if (!from) {
        note_new(p, creator, before);
        from = start_of(p, creator);
    }
    if (from && !(p->points[from].spawns & mz_bit(thread))) p->grown = true;
    p->points[from].spawns |= mz_bit(thread);
}

/* The thread is alive at node path.depth. `before`: the points at the node before; `stepped`: the thread of the step from
 * there. At the first node, `before` is NULL. */
static void note_thread(struct mz_exploration *x, int thread, const uint32_t *before, int stepped)
{
    struct mz_persistent *p = x->persistent;
    const struct mz_pending *pending = mz_pending_of(x, thread);
    uint32_t *here = &p->here[x->path.depth][thread], last = before ? before[thread] : 0;
    if (!last) {
        note_new(p, thread, before);
        last = p->start[thread];
    }
    *here = last;
    if (pending->op == MZ_OP_NONE) return;
    uint32_t point = *here = point_of(p, thread, pending), access = pending_access(x, pending);
    if (access && point && add(p->points[point].own, access)) p->grown = true;
    if (thread == stepped || point != last) lead(p, last, point);
}

void mz_persistent_node(struct mz_exploration *x)
{
    struct mz_persistent *p = x->persistent;
    uint32_t k = x->path.depth;
    bool unsettled = p->grown;
    x->nodes[k].created = x->view->alive | (k ? x->nodes[k - 1].created : 0);
    if (p->full) return;
    compare_again(x);
    p->grown = false;
    clear(p->here[k], sizeof p->here[k]);
    for (uint64_t t = x->view->alive; t; t &= t - 1)
        note_thread(x, __builtin_ctzll(t), k ? p->here[k - 1] : NULL, k ? x->trace.events[k - 1].thread : -1);
    if (p->grown || p->full) x->trace.outdated = true;
    p->grown |= unsettled;
}

void mz_persistent_give_up(struct mz_exploration *x)
{
    if (!x->persistent->full) x->trace.outdated = true;
    x->persistent->full = true;
}

/* ---- persistent sets ---- */

/* May the thread, or a thread that it creates later, still do something that conflicts with this access? */
static bool may_conflict(const struct mz_exploration *x, int thread, uint32_t access)
{
    const struct mz_persistent *p = x->persistent;
    const struct point *here = &p->points[p->here[x->path.depth][thread]];
    bool waits = mz_pending_of(x, thread)->op == MZ_OP_NONE;
    if (meet(waits ? here->after : here->reach, p->conflicts[access])) return true;
    for (uint64_t t = here->creates & ~x->nodes[x->path.depth].created; t; t &= t - 1)
        if (meet(p->points[p->start[__builtin_ctzll(t)]].reach, p->conflicts[access])) return true;
    return false;
}

/* Which threads not in `set` may conflict with this access? */
static uint64_t conflicting(const struct mz_exploration *x, uint32_t access, uint64_t set)
{
    uint64_t found = 0;
    for (uint64_t others = x->view->alive & ~set; access && others; others &= others - 1)
        if (may_conflict(x, __builtin_ctzll(others), access)) found |= others & -others;
    return found;
}

/* The smallest set with this thread that conflicts with no other thread; all enabled threads if a thread that is not
 * enabled is in conflict with it. */
static uint64_t close(struct mz_exploration *x, int first)
{
    uint64_t set = mz_bit(first), enabled = x->view->enabled;
    for (uint64_t todo = set; todo;) {
        int t = __builtin_ctzll(todo);
        uint64_t more = conflicting(x, pending_access(x, mz_pending_of(x, t)), set);
        if (more & ~enabled) return enabled;
        set |= more;
        todo = (todo & ~mz_bit(t)) | more;
    }
    return set;
}

uint64_t mz_persistent_set(struct mz_exploration *x, int preferred)
{
    struct mz_persistent *p = x->persistent;
    uint64_t enabled = x->view->enabled, best = enabled;
    if (p->full) return enabled;
    if (p->grown) settle(p);
    if (preferred >= 0 && enabled & mz_bit(preferred)) best = close(x, preferred);
    for (uint64_t left = enabled; left; left &= left - 1) {
        uint64_t set = close(x, __builtin_ctzll(left));
        if (__builtin_popcountll(set) < __builtin_popcountll(best)) best = set;
    }
    return best;
}
