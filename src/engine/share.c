/* A search shared by several: the side of a worker.
 *
 * Nodes near the root of the tree belong to the balancer (src/balance), which hands out their branches; what
 * is below a branch belongs to the worker that got it, who explores it as if it were alone. A task is
 *
 *   the way   steps to node `top`, run once, live, so that clocks and sleep sets are what they would be for
 *             one who explores alone; the branches before each of them are put to sleep there. These nodes
 *             stay as they are.
 *   a batch   where there are wakeup trees: the balancer's tree at node `top`, in which some leaves are ours.
 *             They are explored in order, as always with the tree of a node; what is not ours is passed by,
 *             and put to sleep. Nodes [top, root) of the path are those of the batch down to the current
 *             leaf. The whole is one part otherwise, and top is root.
 *
 * What goes to the balancer, none of it in every execution:
 *
 *   split    when others have nothing to do, the worker gives up its topmost node with branches left, and
 *            what is above that: it sends which branches have been explored, which it is on, and which are
 *            left. With wakeup trees, it goes on from a leaf (why: src/balance/balance.c).
 *   return   the same of a batch: the leaves that have not been begun.
 *   update   a race whose first event is a branch of the balancer's has to be reversed at that node. The
 *            worker looks at what it knows of the node; if that does not answer it, it says so and goes on.
 *            What the balancer made of it comes later, and is known from then on; if it is too late, because
 *            that node has been left, it is ignored. Only what the balancer said is ever believed. While
 *            something about a node is on its way, further questions about it are held back: the answer is
 *            often theirs, too. They are asked, if it is not, one after the other; and all of them before
 *            the node is left, or anything else is said of the task.
 *   resolve  with backtrack sets a branch is a thread, until it is explored: then it is a step, with an
 *            object, an access and a choice, and the other choices are branches, too.
 *   done     when it would go on above `top`.
 *
 * What is known of a node of the balancer's: its tree behind the current branch, or some of it, in
 * node.wakeup; with backtrack sets, node.backtrack. It is kept from task to task for as long as the way is
 * the same. */
#include "reduction.h"
#include "../base/region.h"

#define MOST_QUESTIONS 256        /* on their way; then one waits */
#define MOST_HELD      64         /* questions; then they are asked */
#define MOST_BYTES     (1u << 20) /* the same, with those that have been asked meanwhile */

static void each_array(struct mz_exploration *x, void (*f)(void **array, size_t bytes))
{
    struct mz_share *s = &x->share;
    size_t n = x->capacity;
    f((void **)&s->steps, n * sizeof *s->steps);
    f((void **)&s->asleep, x->sleep_capacity * sizeof *s->asleep);
    f((void **)&s->asleep_end, n * sizeof *s->asleep_end);
    f((void **)&s->stamps, (n + 1) * sizeof *s->stamps);
    f((void **)&s->asked, (n + 1) * sizeof *s->asked);
    f((void **)&s->trail_stack, n * sizeof *s->trail_stack);
    f((void **)&s->out.data, s->out.capacity);
    f((void **)&s->in.data, s->in.capacity);
    f((void **)&s->held.data, s->held.capacity);
}

void mz_share_init(struct mz_exploration *x)
{
    if (!mz_shared(x)) return;
    x->share.out.capacity = x->share.in.capacity = x->share.held.capacity = x->options.share->room;
    x->share.knowledge_due = true;
    each_array(x, mz_array_reserve);
}

/* All of the search is its own. The way to an earlier task is forgotten, or it would be taken for the way here. */
static void forget_task(struct mz_exploration *x)
{
    struct mz_share *s = &x->share;
    s->top = s->root = s->leaf = s->way = 0;
    s->leaves = s->next_leaf = 1;
    s->descending = s->unresolved = false;
}

static void drop_held(struct mz_exploration *x)
{
    mz_message_clear(&x->share.held);
    x->share.held_count = 0;
}

/* For another program. */
void mz_share_reuse(struct mz_exploration *x)
{
    forget_task(x);
    drop_held(x);
    x->share.questions = 0;
    x->share.knowledge_due = true;
}

void mz_share_free(struct mz_exploration *x)
{
    if (mz_shared(x)) each_array(x, mz_array_release);
}

static struct mz_message *begin(struct mz_exploration *x, enum mz_share_kind kind)
{
    mz_message_clear(&x->share.out);
    mz_put(&x->share.out, kind);
    return &x->share.out;
}

static void send(struct mz_exploration *x) { x->options.share->send(x->options.system, &x->share.out); }

#define ANY_NODE UINT32_MAX

/* Questions that were held back, about this node: are asked, all of them, or up to the first that `answered`
 * does not find answered by now; those that it does are forgotten. */
static void ask_held(struct mz_exploration *x, uint32_t node,
                     bool (*answered)(struct mz_exploration *x, uint32_t k, struct mz_message *m))
{
    struct mz_share *s = &x->share;
    bool on = s->held_count > 0;
    for (size_t at = 0; on && at < s->held.count;) {
        uint32_t head[3]; /* node, stamp, length */
        __builtin_memcpy(head, s->held.data + at, sizeof head);
        struct mz_message m = {
            .data = s->held.data + at + sizeof head, .count = head[2], .capacity = head[2]};
        if (head[0] != ANY_NODE && (node == ANY_NODE || node == head[0])) {
            if (!answered || !answered(x, head[0], &m)) {
                mz_message_clear(&s->out);
                mz_put_bytes(&s->out, m.data, m.count);
                send(x);
                s->questions++;
                s->asked[head[0]] = head[1];
                on = !answered;
            }
            head[0] = ANY_NODE; /* it is gone */
            __builtin_memcpy(s->held.data + at, head, sizeof head[0]);
            s->held_count--;
        }
        at += sizeof head + head[2];
    }
    if (!s->held_count) mz_message_clear(&s->held);
}

static void put_knowledge(struct mz_exploration *x, struct mz_message *m)
{
    mz_put(m, x->share.knowledge_due);
    if (!x->share.knowledge_due) return;
    x->share.knowledge_due = false;
    mz_put_objects(x, m);
    size_t at = m->count;
    mz_put(m, 0);
    if (x->options.share->put_knowledge) x->options.share->put_knowledge(x->options.system, m);
    uint32_t length = (uint32_t)(m->count - at - sizeof length);
    __builtin_memcpy(m->data + at, &length, sizeof length);
}

static void get_knowledge(struct mz_exploration *x, struct mz_message *m)
{
    if (!mz_get(m)) return;
    mz_get_objects(x, m);
    size_t length = mz_get(m), end = m->at + length;
    if (length && x->options.share->get_knowledge) x->options.share->get_knowledge(x->options.system, m);
    if (m->at != end) m->bad = true;
    x->share.knowledge_due = false; /* it comes from there */
}

/* What has been counted up to then and not been told. */
static void put_tally(struct mz_exploration *x, struct mz_message *m, struct mz_tally now)
{
    struct mz_tally *told = &x->share.told;
    mz_put_tally(m, (struct mz_tally){now.executions - told->executions, now.blocked - told->blocked,
                                      now.cut - told->cut, now.transitions - told->transitions});
    *told = now;
}

/* ---- the life of a task ---- */

/* Elements are added behind `count`; how many there are then. */
static uint32_t get_elems(struct mz_exploration *x, struct mz_message *m, struct mz_elem *to, uint32_t count)
{
    uint32_t n = mz_get_count(m, MZ_WIRE);
    if (n > x->sleep_capacity - count) m->bad = true;
    while (n-- > 0 && !m->bad) to[count++] = mz_get_elem(x, m);
    return count;
}

/* A step of the new way. Does it lead to the same node as that of the one before? */
static bool get_step(struct mz_exploration *x, struct mz_message *m, uint32_t k)
{
    struct mz_share *s = &x->share;
    uint32_t word = mz_get(m);
    struct mz_step old = k < s->way ? s->steps[k] : x->path.steps[k];
    struct mz_step new = s->steps[k] = (struct mz_step){(uint8_t)(word & 0xff), (uint8_t)(word >> 8 & 0xff)};
    return k < s->root && old.thread == new.thread &&old.choice == new.choice &&new.choice != MZ_ANY;
}

bool mz_explore_task(struct mz_exploration *x, struct mz_message *m)
{
    x->counters.share = x->counters.expected = 0;
    drop_held(x); /* there are none, but of a task that has become void */
    struct mz_share *s = &x->share;
    uint32_t asleep = 0, tree = 0;
    uint32_t kind = mz_get(m);
    if (mz_get(m)) { /* as if it were new */
        s->root = 0;
        get_knowledge(x, m);
    }
    uint32_t top = mz_get_count(m, 8), leaves = mz_get(m);
    if (kind != MZ_SHARE_TASK || m->bad || top + 2 >= x->capacity || !leaves) return false;
    s->kept = s->root > 0;
    for (uint32_t k = 0; k < top; k++) {
        bool same = get_step(x, m, k);
        if (same && s->kept == k + 1 && k + 1 < s->root) s->kept++; /* the node that it leads to */
        s->asleep_end[k] = asleep = get_elems(x, m, s->asleep, asleep);
    }
    mz_get_tree(x, m, &tree);
    mz_rewind_all(x);
    forget_task(x);
    s->way = top;
    for (; s->kept <= top; s->kept++) {
        x->nodes[s->kept].wakeup = 0;
        mz_share_new_node(x, s->kept);
    }
    mz_wakeup_clear(x, &x->nodes[top].wakeup);
    x->nodes[top].wakeup = tree;
    for (uint32_t k = top; k-- > 0 && !m->bad;) mz_merge_tree(x, m, &x->nodes[k].wakeup);
    s->told = s->before = mz_tally_of(&x->counters);
    s->top = s->root = top;
    s->leaves = leaves;
    s->next_leaf = tree ? 0 : 1;
    s->descending = tree != 0;
    s->unresolved = top && s->steps[top - 1].choice == MZ_ANY;
    return !m->bad;
}

void mz_explore_task_done(struct mz_exploration *x)
{
    ask_held(x, ANY_NODE, NULL);
    struct mz_message *m = begin(x, MZ_SHARE_DONE);
    put_tally(x, m, mz_tally_of(&x->counters));
    send(x);
}

uint64_t mz_explore_unshared(const struct mz_exploration *x)
{
    return x->counters.executions - x->share.told.executions;
}

/* What was explored anywhere is void; all of it belongs to this worker now. */
void mz_share_restart(struct mz_exploration *x)
{
    forget_task(x);
    drop_held(x);
    x->share.told = x->share.before = mz_tally_of(&x->counters);
    x->share.knowledge_due = true;
    put_knowledge(x, begin(x, MZ_SHARE_RESTART));
    send(x);
}

void mz_share_new_node(struct mz_exploration *x, uint32_t k)
{
    struct mz_share *s = &x->share;
    if (k < s->kept) return;
    ask_held(x, k, NULL);
    s->stamps[k] = ++s->stamp;
}

static uint32_t before(const uint32_t *ends, uint32_t k) { return k ? ends[k - 1] : 0; }

static struct mz_step nobody(struct mz_exploration *x, enum mz_ending why)
{
    x->ending = why;
    return (struct mz_step){MZ_NOBODY, 0};
}

/* A step on the way to the top. */
struct mz_step mz_share_step(struct mz_exploration *x, uint32_t k)
{
    struct mz_share *s = &x->share;
    struct mz_node *n = &x->nodes[k];
    struct mz_step step = s->steps[k];
    const struct mz_pending *p = &x->view->pending[step.thread % MZ_MAX_THREADS];
    if (step.thread >= MZ_MAX_THREADS || !(n->enabled & mz_bit(step.thread)))
        return nobody(x, MZ_ENDING_DIVERGED);
    for (uint32_t i = before(s->asleep_end, k); i < s->asleep_end[k]; i++) mz_sleep_add(x, k, s->asleep[i]);
    if (step.choice == MZ_ANY) {
        if (!mz_choose(x, k, &step)) return nobody(x, MZ_ENDING_ASLEEP);
    } else if (step.choice >= 64 || !(p->choices & mz_bit(step.choice))) {
        return nobody(x, MZ_ENDING_DIVERGED);
    }
    n->backtrack = mz_bit(step.thread);
    n->step = step;
    return step;
}

/* ---- the tree of a batch ---- */

void mz_share_pass(struct mz_exploration *x, uint32_t k)
{
    uint32_t *list = &x->nodes[k].wakeup;
    while (*list && x->wakeup[*list].whose != MZ_MINE) {
        struct mz_elem e;
        uint32_t children = mz_wakeup_pop(x, list, &e);
        mz_wakeup_clear(x, &children);
        mz_sleep_add(x, k, e);
    }
}

void mz_share_taken(struct mz_exploration *x, uint32_t k, bool children)
{
    struct mz_share *s = &x->share;
    s->root = k + 1;
    s->descending = children;
    if (children) return;
    s->leaf = s->next_leaf++;
    s->before = mz_tally_of(&x->counters);
}

/* The leaves that have not been begun go back. */
static void return_leaves(struct mz_exploration *x)
{
    struct mz_share *s = &x->share;
    ask_held(x, ANY_NODE, NULL);
    struct mz_message *m = begin(x, MZ_SHARE_RETURN);
    put_tally(x, m, s->before);
    mz_put(m, s->leaf);
    s->leaves = s->next_leaf;
    s->top = s->root;
    send(x);
}

/* ---- splitting ---- */

static bool has_backtrack_sets(const struct mz_exploration *x)
{
    return x->reduction->next == mz_next_in_backtrack;
}

/* Threads that are still to be explored from node k. */
static uint64_t threads_left(const struct mz_exploration *x, uint32_t k)
{
    const struct mz_node *n = &x->nodes[k];
    uint64_t left = n->backtrack & ~n->done & ~mz_bit(n->step.thread);
    for (uint64_t t = left; t; t &= t - 1)
        if (mz_all_asleep(x, k, __builtin_ctzll(t))) left &= ~(t & -t);
    return left;
}

static uint64_t choices_left(const struct mz_exploration *x, uint32_t k)
{
    return x->nodes[k].choices & ~mz_sleep_choices(x, k, x->nodes[k].step.thread);
}

static bool has_branches(const struct mz_exploration *x, uint32_t k)
{
    if (!has_backtrack_sets(x)) return x->nodes[k].wakeup;
    return choices_left(x, k) || threads_left(x, k);
}

/* The node to be given up, and all above it; UINT32_MAX: none. */
static uint32_t node_to_give(const struct mz_exploration *x, enum mz_share_wish wish)
{
    uint32_t found = UINT32_MAX;
    for (uint32_t k = x->share.root; k < x->path.depth; k++) {
        if (!has_branches(x, k)) continue;
        found = k;
        if (wish == MZ_SHARE_GIVE) break;
    }
    if (found == UINT32_MAX) return found;
    while (found + 1 < x->path.depth && x->nodes[found + 1].foreseen) found++; /* to the leaf */
    return found;
}

/* With backtrack sets: what is left, as a list. */
static uint32_t list_left(struct mz_exploration *x, uint32_t k)
{
    struct mz_elem e = mz_elem_of(&x->path.events[k]);
    uint32_t list = 0;
    for (uint64_t c = choices_left(x, k); c; c &= c - 1) {
        e.choice = (uint8_t)__builtin_ctzll(c);
        mz_wakeup_append(x, &list, e);
    }
    for (uint64_t t = threads_left(x, k); t; t &= t - 1)
        mz_wakeup_append(x, &list, (struct mz_elem){.thread = (uint8_t)__builtin_ctzll(t), .choice = MZ_ANY});
    return list;
}

/* The branches that have been explored, the one that is being explored, those that are left. */
static void give_node(struct mz_exploration *x, struct mz_message *m, uint32_t k)
{
    struct mz_node *n = &x->nodes[k];
    uint32_t explored = n->sleep_count - n->inherited, list = n->wakeup;
    mz_put_long(m, explored ? mz_tally_leaves(n->before) - n->first : 0);
    mz_put(m, explored);
    for (uint32_t i = n->inherited; i < n->sleep_count; i++) mz_put_elem(x, m, x->sleep[n->sleep_start + i]);
    mz_put_elem(x, m, mz_elem_of(&x->path.events[k]));
    if (!has_backtrack_sets(x)) {
        mz_wakeup_give(x, list, explored + 1);
        mz_put_tree(x, m, list);
        return;
    }
    list = list_left(x, k);
    mz_put_tree(x, m, list);
    mz_wakeup_clear(x, &list);
    mz_put_long(m, n->backtrack);
}

/* What the last step of the way turned out to be. */
static void resolve(struct mz_exploration *x)
{
    struct mz_share *s = &x->share;
    uint32_t k = s->top - 1;
    if (!s->unresolved || x->path.depth <= k) return;
    s->unresolved = false;
    struct mz_message *m = begin(x, MZ_SHARE_RESOLVE);
    mz_put_elem(x, m, mz_elem_of(&x->path.events[k]));
    mz_put_long(m, x->nodes[k].choices);
    send(x);
}

static void split(struct mz_exploration *x, uint32_t n)
{
    struct mz_share *s = &x->share;
    ask_held(x, ANY_NODE, NULL);
    struct mz_message *m = begin(x, MZ_SHARE_SPLIT);
    put_knowledge(x, m);
    put_tally(x, m, x->nodes[n].before);
    mz_put(m, s->leaf);
    mz_put(m, s->root);
    mz_put(m, n + 1 - s->root);
    for (uint32_t k = s->root; k <= n; k++) {
        give_node(x, m, k);
        mz_share_new_node(x, k);
    }
    s->top = s->root = n + 1;
    send(x);
}

static void listen(struct mz_exploration *x, bool wait);

void mz_share_offer(struct mz_exploration *x)
{
    struct mz_share *s = &x->share;
    if (s->questions) listen(x, false);
    if (mz_unlikely(s->unresolved)) resolve(x);
    enum mz_share_wish wish = x->options.share->wish(x->options.system);
    if (mz_likely(wish == MZ_SHARE_KEEP)) return;
    if (s->next_leaf < s->leaves) {
        return_leaves(x);
        if (wish == MZ_SHARE_GIVE) return;
    }
    s->top = s->root; /* all leaves before this one are done */
    uint32_t n = node_to_give(x, wish);
    if (n != UINT32_MAX) split(x, n);
}

/* ---- races of the balancer's nodes ---- */

static bool is_answered(struct mz_exploration *x, uint32_t k, struct mz_message *m)
{
    for (int i = 0; i < 4; i++) mz_get(m); /* what begin_update() has put */
    if (!has_backtrack_sets(x))
        return mz_get_sequence(x, m) && mz_wakeup_covers(x, x->nodes[k].wakeup, &x->sequence);
    uint64_t wanted = mz_get_long(m), add = mz_get_long(m), known = x->nodes[k].backtrack;
    return wanted & known || !(add & ~known);
}

void mz_explore_learn(struct mz_exploration *x, struct mz_message *m)
{
    struct mz_share *s = &x->share;
    uint32_t k = mz_get(m), stamp = mz_get(m);
    if (s->questions) s->questions--;
    MZ_ASSERT(k < x->capacity);
    if (s->stamps[k] != stamp || k >= s->root) {
        m->at = m->count;
        return;
    }
    if (has_backtrack_sets(x))
        x->nodes[k].backtrack |= mz_get_long(m);
    else
        mz_merge_tree(x, m, &x->nodes[k].wakeup);
    MZ_ASSERT(!m->bad);
    s->asked[k] = 0;
    ask_held(x, k, is_answered);
}

static void listen(struct mz_exploration *x, bool wait)
{
    struct mz_message *m = &x->share.in;
    while (x->share.questions && x->options.share->listen(x->options.system, m, wait)) {
        MZ_ASSERT(mz_get(m) == MZ_SHARE_REPLY);
        mz_explore_learn(x, m);
        wait = wait && x->share.questions > MOST_QUESTIONS / 2;
    }
}

static struct mz_message *begin_update(struct mz_exploration *x, uint32_t k)
{
    struct mz_message *m = begin(x, MZ_SHARE_UPDATE);
    mz_put(m, x->share.leaf);
    mz_put(m, k);
    mz_put(m, x->share.stamps[k]);
    return m;
}

/* About node k: what is in x->share.out. */
static void ask(struct mz_exploration *x, uint32_t k)
{
    struct mz_share *s = &x->share;
    if (s->asked[k] == s->stamps[k] && s->held_count < MOST_HELD && s->held.count < MOST_BYTES) {
        uint32_t head[3] = {k, s->stamps[k], (uint32_t)s->out.count};
        mz_put_bytes(&s->held, head, sizeof head);
        mz_put_bytes(&s->held, s->out.data, s->out.count);
        s->held_count++;
        return;
    }
    send(x);
    s->asked[k] = s->stamps[k];
    if (++s->questions > MOST_QUESTIONS) listen(x, true);
}

/* The race is that of x->sequence. Is it settled? */
bool mz_share_reverse(struct mz_exploration *x, uint32_t k)
{
    struct mz_sequence *v = &x->sequence;
    const struct mz_race *race = v->race;
    enum mz_cover cover = mz_sleep_covers(x, k, v);
    if (cover == MZ_UNCOVERED) cover = mz_wakeup_covers(x, x->nodes[k].wakeup, v);
    if (cover != MZ_UNCOVERED) return cover == MZ_SETTLED;
    mz_sequence_build(x, race);
    uint32_t keep = v->keep;
    mz_sequence_complete(x, v);
    mz_put_sequence(x, begin_update(x, k), keep);
    ask(x, k);
    return false;
}

void mz_share_backtrack(struct mz_exploration *x, uint32_t k, uint64_t wanted, uint64_t add)
{
    add &= ~x->nodes[k].backtrack;
    if (!add) return;
    struct mz_message *m = begin_update(x, k);
    mz_put_long(m, wanted);
    mz_put_long(m, add);
    ask(x, k);
}
