/* A search that several workers share: the side of a worker. Stateful searches are shared in another way
 * (stateful/shared_states.c).
 *
 * Nodes near the root of the tree belong to the balancer (dist/balance), which hands out their branches. What
 * is below a branch belongs to the worker that got it; the worker explores it as if it were alone. A task is
 *
 *   the way   the steps to node `top`. They are run once, live, so that clocks and sleep sets are what they would be
 *             in a search by one worker; the branches before each step are put to sleep there. These nodes do not
 *             change.
 *   a batch   with wakeup trees: the balancer's tree at node `top`, in which some leaves are this worker's. The worker
 *             explores them in order, like any wakeup tree of a node. It skips the branches of other workers and puts
 *             them to sleep. Nodes [top, root) of the path are those of the batch down to the current leaf. With
 *             backtrack sets, the task is one part, and top equals root.
 *
 * Messages to the balancer (most executions send none):
 *
 *   split     when other workers have nothing to do, the worker gives up its topmost node with branches left, and the
 *             nodes above it: it sends which branches have been explored, which one it is exploring, and which are
 *             left. With wakeup trees, it goes on from a leaf (why: dist/balance/balance.c).
 *   return    the leaves of a batch that have not been begun
 *   update    a race that has to be reversed at a node of the balancer (worker_questions.c)
 *   resolve   with backtrack sets a branch is a thread until it is explored. Then it is a step, with an object, an
 *             access and a choice, and the other choices become branches, too
 *   done      the task is explored: the search would go on above `top`
 *
 * Of a node of the balancer, the worker knows the tree behind the current branch, or a part of that tree
 * (node.wakeup); with backtrack sets, node.backtrack. The worker keeps this knowledge from task to task as
 * long as the way to the node is the same. */
#include "engine/worker_part.h"
#include "engine/strategy.h"
#include "base/region.h"
#include "engine/stateful/stateful.h"

static void each_array(struct mz_exploration *x, void (*f)(void **array, size_t bytes))
{
    struct mz_share *s = x->share;
    size_t n = x->trace.capacity;
    f((void **)&s->steps, n * sizeof *s->steps);
    f((void **)&s->asleep, x->sleep_capacity * sizeof *s->asleep);
    f((void **)&s->asleep_end, n * sizeof *s->asleep_end);
    f((void **)&s->stamps, (n + 1) * sizeof *s->stamps);
    f((void **)&s->asked, (n + 1) * sizeof *s->asked);
    f((void **)&s->out.data, s->out.capacity);
    f((void **)&s->in.data, s->in.capacity);
    f((void **)&s->held.data, s->held.capacity);
}

static void init(struct mz_exploration *x)
{
    x->share = mz_region_reserve(sizeof *x->share);
    MZ_ASSERT(x->share != NULL);
    x->trace.keys =
        (struct mz_key_map){x->options.share->key_out, x->options.share->key_in, x->options.system};
    x->share->out.capacity = x->share->in.capacity = x->share->held.capacity = x->options.share->room;
    x->share->knowledge_due = true;
    each_array(x, mz_array_reserve);
}

/* The whole search is this worker's until a task comes. Forget the way to the previous task: it would be
 * taken for the way to the next one. */
static void forget_task(struct mz_exploration *x)
{
    struct mz_share *s = x->share;
    x->top = x->root = s->leaf = s->way = 0;
    s->leaves = s->next_leaf = 1;
    s->descending = s->unresolved = false;
}

static void reused(struct mz_exploration *x)
{
    forget_task(x);
    mz_share_drop_held(x);
    x->share->questions = 0;
    x->share->knowledge_due = true;
}

static void release(struct mz_exploration *x)
{
    each_array(x, mz_array_release);
    mz_region_free(x->share, sizeof *x->share);
}

/* ---- the life of a task ---- */

/* Read elements, and add them behind `count`; return the new count. */
static uint32_t get_elems(struct mz_exploration *x, struct mz_message *m, struct mz_elem *to, uint32_t count)
{
    uint32_t n = mz_get_count(m, MZ_WIRE);
    if (n > x->sleep_capacity - count) m->bad = true;
    while (n-- > 0 && !m->bad) to[count++] = mz_get_elem(&x->trace, m);
    return count;
}

/* Read a step of the new way. Return whether it leads to the same node as the step of the previous way. */
static bool get_step(struct mz_exploration *x, struct mz_message *m, uint32_t k)
{
    struct mz_share *s = x->share;
    uint32_t word = mz_get(m);
    struct mz_step old = k < s->way ? s->steps[k] : x->path.steps[k];
    struct mz_step new = s->steps[k] =
        (struct mz_step){.thread = (uint8_t)(word & 0xff), .choice = (uint8_t)(word >> 8 & 0xff)};
    return k < x->root && old.thread == new.thread &&old.choice == new.choice &&new.choice != MZ_ANY;
}

bool mz_explore_task(struct mz_exploration *x, struct mz_message *m)
{
    if (x->stateful) return mz_shared_task(x, m);
    x->counters.work_done = x->counters.expected = 0;
    mz_share_drop_held(x); /* questions are held only if the previous task has become void */
    struct mz_share *s = x->share;
    uint32_t asleep = 0, tree = 0;
    uint32_t kind = mz_get(m);
    if (mz_get(m)) { /* the worker is new, or is treated as new */
        x->root = 0;
        mz_share_get_knowledge(x, m);
        if (x->sampling) mz_sampling_clear(x);
        if (x->bounded) mz_bounded_clear(x);
    }
    if (x->sampling) return kind == MZ_SHARE_TASK && mz_sampling_task(x, m);
    uint32_t top = mz_get_count(m, 8), leaves = mz_get(m);
    if (kind != MZ_SHARE_TASK || m->bad || top + 2 >= x->trace.capacity || !leaves) return false;
    x->kept = x->root > 0;
    for (uint32_t k = 0; k < top; k++) {
        bool same = get_step(x, m, k);
        if (same && x->kept == k + 1 && k + 1 < x->root) x->kept++; /* the node that the step leads to */
        s->asleep_end[k] = asleep = get_elems(x, m, s->asleep, asleep);
    }
    mz_get_tree(&x->trace, m, &tree);
    mz_rewind_all(x);
    forget_task(x);
    s->way = top;
    for (; x->kept <= top; x->kept++) {
        x->nodes[x->kept].wakeup = 0;
        mz_share_new_node(x, x->kept);
    }
    mz_wakeup_clear(&x->trace, &x->nodes[top].wakeup);
    x->nodes[top].wakeup = tree;
    for (uint32_t k = top; k-- > 0 && !m->bad;) mz_merge_tree(&x->trace, m, &x->nodes[k].wakeup);
    s->told = s->before = mz_tally_of(&x->counters);
    x->top = x->root = top;
    s->leaves = leaves;
    s->next_leaf = tree ? 0 : 1;
    s->descending = tree != 0;
    s->unresolved = top && s->steps[top - 1].choice == MZ_ANY;
    return !m->bad;
}

void mz_explore_leave(struct mz_exploration *x)
{
    if (x->sampling) mz_sampling_report(x);
}

void mz_explore_task_done(struct mz_exploration *x)
{
    if (x->sampling) {
        mz_sampling_report(x);
        return;
    }
    if (x->stateful) {
        mz_shared_done(x);
        return;
    }
    mz_share_ask_all(x);
    struct mz_message *m = mz_share_begin(x, MZ_SHARE_DONE);
    mz_share_put_tally(x, m, mz_tally_of(&x->counters));
    mz_share_send(x);
}

uint64_t mz_explore_unshared(const struct mz_exploration *x)
{
    return x->counters.executions - x->share->told.executions;
}

/* The search starts over: what any worker has explored is void, and the whole search belongs to this worker
 * now. */
static void restarted(struct mz_exploration *x)
{
    forget_task(x);
    mz_share_drop_held(x);
    x->share->told = x->share->before = mz_tally_of(&x->counters);
    x->share->knowledge_due = true;
    mz_share_put_knowledge(x, mz_share_begin(x, MZ_SHARE_RESTART));
    mz_share_send(x);
}

static uint32_t before(const uint32_t *ends, uint32_t k) { return k ? ends[k - 1] : 0; }

/* The step of the way at node k, which is before `top`. */
static struct mz_step step_on_way(struct mz_exploration *x, uint32_t k)
{
    struct mz_share *s = x->share;
    struct mz_node *n = &x->nodes[k];
    struct mz_step step = s->steps[k];
    const struct mz_pending *p = &x->view->pending[step.thread % MZ_MAX_THREADS];
    if (step.thread >= MZ_MAX_THREADS || !(n->enabled & mz_bit(step.thread)))
        return mz_nobody(x, MZ_ENDING_DIVERGED);
    for (uint32_t i = before(s->asleep_end, k); i < s->asleep_end[k]; i++) mz_sleep_add(x, k, s->asleep[i]);
    if (step.choice == MZ_ANY) {
        if (!mz_choose(x, k, &step)) return mz_nobody(x, MZ_ENDING_ASLEEP);
    } else if (step.choice >= 64 || !(p->choices & mz_bit(step.choice))) {
        return mz_nobody(x, MZ_ENDING_DIVERGED);
    }
    n->backtrack = mz_bit(step.thread);
    n->step = step;
    return step;
}

/* ---- the tree of a batch ---- */

static void pass_by_others(struct mz_exploration *x, uint32_t k)
{
    uint32_t *list = &x->nodes[k].wakeup;
    while (*list && x->trace.wakeup.nodes[*list].whose != MZ_MINE) {
        struct mz_elem e;
        uint32_t children = mz_wakeup_pop(&x->trace, list, &e);
        mz_wakeup_clear(&x->trace, &children);
        mz_sleep_add(x, k, e);
    }
}

static void note_taken(struct mz_exploration *x, uint32_t k, bool children)
{
    struct mz_share *s = x->share;
    x->root = k + 1;
    s->descending = children;
    if (children) return;
    s->leaf = s->next_leaf++;
    s->before = mz_tally_of(&x->counters);
}

/* ---- the frontier ---- */

static void want(struct mz_exploration *x, uint32_t k, uint64_t wanted, uint64_t add)
{
    if (wanted & x->nodes[k].backtrack) return;
    if (k < x->root)
        mz_share_ask_for_threads(x, k, wanted, add);
    else
        x->nodes[k].backtrack |= add;
}

static enum mz_cover want_sequence(struct mz_exploration *x, uint32_t k)
{
    if (k < x->root) return mz_share_ask_for_sequence(x, k);
    return mz_wakeup_insert(&x->trace, &x->nodes[k].wakeup, &x->trace.sequence);
}

/* Is node k one of the batch? */
static bool is_in_batch(const struct mz_exploration *x, uint32_t k)
{
    return mz_unlikely(k < x->root || x->share->descending);
}

static bool take_branch(struct mz_exploration *x, uint32_t k)
{
    if (is_in_batch(x, k)) pass_by_others(x, k);
    if (!mz_take_own_branch(x, k)) return false;
    if (is_in_batch(x, k)) note_taken(x, k, x->nodes[k + 1].wakeup);
    return true;
}

static void enter(struct mz_exploration *x, uint32_t k)
{
    x->nodes[k].before = mz_tally_of(&x->counters);
    if (mz_unlikely(x->share->descending)) mz_share_new_node(x, k);
}

/* Count only the executions below the root of the part that the balancer has not been told of. Assume that
 * the leaves of the batch that have not been begun are as large as the others. */
static void estimate(const struct mz_exploration *x, double *total, double *done)
{
    const struct mz_share *s = x->share;
    uint64_t now = mz_leaves(&x->counters);
    double part = (double)(now - mz_tally_leaves(s->before));
    *done = (double)(now - mz_tally_leaves(s->told));
    *total = *done + (*total > part ? *total - part : 0);
    if (s->next_leaf && s->leaves > s->next_leaf)
        *total += *total / s->next_leaf * (s->leaves - s->next_leaf);
}

const struct mz_frontier mz_frontier_shared = {
    .init = init,
    .release = release,
    .want = want,
    .want_sequence = want_sequence,
    .take_branch = take_branch,
    .enter = enter,
    .step = step_on_way,
    .executed = mz_share_offer,
    .restarted = restarted,
    .reused = reused,
    .estimate = estimate,
};
