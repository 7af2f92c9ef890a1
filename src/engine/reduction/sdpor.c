/* Stateful dynamic partial-order reduction: 2008, Fig. 5, with UPDATEBACKTRACKSETS as in Fig. 6.
 *
 * Line 10 of Fig. 5 is the reduction of 2005 without sleep sets (reduction/dpor.c, for all threads with a
 * pending operation, enabled or not); lines 4-9 and 11-22 are the walk of stateful.c; line 19 event(); lines
 * 5-6 end(): what may happen after a visited state comes from the visible operation dependency graph
 * (operation_graph.c). The states are those of the system (Fig. 7 without its local ids).
 *
 * Where the paper is not enough:
 *  - Line 3 of Fig. 6 takes the latest dependent transition. 2005 takes the latest that does not *happen before* the
 *    operation, and that matters (tests/random/corpus/last-dependent.model). For new states happens-before is known.
 *    For what follows a visited state it is not known: there every dependent transition on the path gets a
 *    backtracking point.
 *  - The operations that stay blocked belong to the graph, and so do the timeouts that signals prevent.
 *  - Lines 4-7 assume that a visited state is complete. On a cycle it is not: then everything is explored from the
 *    states of the cycle, and the path to it is updated when the cycle is complete. */
#include "engine/reduction.h"
#include "engine/stateful/stateful.h"

static uint64_t threads(struct mz_exploration *x, uint32_t k)
{
    const struct mz_node *n = &x->nodes[k];
    if (!n->done) return mz_bit(mz_stateful_pick(x, n->enabled));
    return x->stateful->marks[k].cyclic ? n->enabled : n->backtrack;
}

/* ---- the graph ---- */

/* Fig. 5, line 19. A choice has no object, but operations can follow it: it is a node of the graph, too. */
static void event(struct mz_exploration *x, mz_number n, uint32_t races)
{
    if (n) {
        struct mz_mark *marks = x->stateful->marks;
        struct mz_elem e = mz_future_entry(x, mz_elem_of(mz_event_at(&x->trace, n)));
        uint32_t node = marks[n - 1].operation = mz_graph_node(x->stateful->graph, e);
        marks[n - 1].operations[e.thread] = node;
        if (n > 1) mz_graph_edge(x->stateful->graph, marks[n - 2].operation, node);
    }
    mz_dpor_event(x, n, races);
}

/* Add the effects of the last step on other threads to the graph: the threads that it started or woke, also
 * those that have ended within it, and the timeouts that it prevented. */
static void note_effects(struct mz_exploration *x)
{
    struct mz_graph *g = x->stateful->graph;
    uint32_t k = x->path.depth;
    if (!k) return;
    const struct mz_mark *before = &x->stateful->marks[k - 1];
    const struct mz_event *e = &x->trace.events[k - 1];
    for (uint64_t t = before->stirred; t; t &= t - 1) {
        struct mz_elem woken = {(uint32_t)__builtin_ctzll(t), e->thread, MZ_WRITES, 0, MZ_OP_WOKEN};
        mz_graph_edge(g, before->operation, mz_graph_node(g, woken));
    }
    for (uint64_t t = before->timeouts; t; t &= t - 1) {
        struct mz_elem timeout = {e->object, (uint8_t)__builtin_ctzll(t), MZ_READS, 0, MZ_OP_TIMEOUT};
        mz_graph_edge(g, before->operation, mz_graph_node(g, mz_future_entry(x, timeout)));
    }
}

static struct mz_step enter(struct mz_exploration *x, uint32_t k)
{
    note_effects(x);
    return mz_stateful_enter(x, k);
}

static void pending(struct mz_exploration *x, int p)
{
    struct mz_mark *m = &x->stateful->marks[x->path.depth];
    m->operations[p] = 0;
    if (!((m->sleeping | x->view->enabled) & mz_bit(p))) {
        m->operations[p] = mz_graph_node(x->stateful->graph, mz_blocked_entry(x, p, m->blocked_on[p]));
        if (x->path.depth) mz_graph_edge(x->stateful->graph, m[-1].operation, m->operations[p]);
    }
    mz_dpor_pending(x, p);
}

/* ---- what follows a visited state ---- */

/* Fig. 5, lines 5 and 6, for the path up to node `depth`. From that node on, the operations that the graph
 * has reached can happen. */
static void update_backtrack_sets(struct mz_exploration *x, uint32_t depth)
{
    uint64_t stirrers[MZ_MAX_THREADS] = {0};
    uint32_t later, count;
    const struct mz_elem *reached = mz_graph_reached(x->stateful->graph, &count);
    mz_add_stirrers(stirrers, reached, count);
    later = count;
    for (uint32_t k = depth; k-- > 0;) {
        struct mz_elem e = mz_elem_of(&x->trace.events[k]);
        uint64_t conflicts = mz_conflicting(x, &e, reached, count);
        if (conflicts) x->nodes[k].backtrack |= mz_needed(x, k, conflicts, stirrers, reached, later);
        later = mz_graph_append(x->stateful->graph, mz_future_entry(x, e));
        for (uint64_t t = x->stateful->marks[k].stirred; t; t &= t - 1)
            stirrers[__builtin_ctzll(t)] |= mz_bit(e.thread);
    }
}

/* Start the search in the graph at the thread's pending operation, with every access that it may have. Also
 * add an edge from the last step to it (the paper adds edges only between steps that are taken): then a
 * search that reaches the last step from a visited state finds all that follows. If the visited state is
 * open, it may not be known yet what follows. */
static void reach_from(struct mz_exploration *x, int p)
{
    struct mz_graph *g = x->stateful->graph;
    const struct mz_mark *m = &x->stateful->marks[x->path.depth];
    uint32_t last = x->path.depth ? m[-1].operation : 0;
    if (m->sleeping & mz_bit(p)) return;
    struct mz_elem e = mz_blocked_entry(x, p, m->blocked_on[p]);
    for (e.access = MZ_READS; e.access <= MZ_SHARES; e.access++) {
        uint32_t node = x->stateful->child.open ? mz_graph_node(g, e) : mz_graph_known(g, e);
        mz_graph_edge(g, last, node);
        mz_graph_from(g, node);
    }
}

static void end(struct mz_exploration *x)
{
    mz_stateful_end(x);
    note_effects(x);
    if (x->ending != MZ_ENDING_VISITED) return;
    mz_graph_begin(x->stateful->graph);
    for (uint64_t t = x->view->alive; t; t &= t - 1) reach_from(x, __builtin_ctzll(t));
    if (!x->stateful->child.open) update_backtrack_sets(x, x->path.depth);
}

static bool next(struct mz_exploration *x, uint32_t k)
{
    const struct mz_mark *m = &x->stateful->marks[k];
    if (mz_stateful_next(x, k)) return true;
    if (!m->cyclic || x->stateful->child.open) return false;
    mz_graph_begin(x->stateful->graph); /* a cycle is complete */
    for (uint64_t t = m->alive & ~m->sleeping; t; t &= t - 1)
        mz_graph_from(x->stateful->graph, m->operations[__builtin_ctzll(t)]);
    update_backtrack_sets(x, k);
    return false;
}

const struct mz_reduction mz_reduction_sdpor = {
    .stateful = true,
    .uses_operation_graph = true,
    .enter = enter,
    .event = event,
    .pending = pending,
    .end = end,
    .next = next,
    .threads = threads,
};
