/* A search shared by several: the side of a worker.
 *
 * Nodes near the root of the tree belong to the balancer (src/balance), which hands out their branches; a
 * worker explores all that is below its branch as if it were alone, and knows:
 *
 *   root    nodes [0, root) are the balancer's: the worker never takes another branch there. It runs the
 * steps of its task once, live, so that clocks and sleep sets are what they would be for one who explores
 *           alone; the branches before its own at each of these nodes are put to sleep there.
 *
 * Three things go between them, none of them in every execution:
 *
 *   split   when others have nothing to do, the worker gives up its topmost node with branches left, and what
 * is above that: it sends which branches have been explored, which it is on, and which are left. update  a
 * race whose first event is a branch of the balancer's has to be reversed at that node. The worker looks at
 * what it knows of the node; if that does not answer it, it asks, and is told what does: a branch of the
 * balancer's tree, from the node down to a leaf, that it will know from then on. So it asks for no more than
 * there are branches. done    when it would go on above its root.
 *
 * Why that is sound is said in src/balance/balance.c. */
#include "reduction.h"
#include "../base/region.h"

static void each_array(struct mz_exploration *x, void (*f)(void **array, size_t bytes))
{
    struct mz_share *s = &x->share;
    size_t n = x->capacity;
    f((void **)&s->steps, n * sizeof *s->steps);
    f((void **)&s->asleep, x->sleep_capacity * sizeof *s->asleep);
    f((void **)&s->asleep_end, n * sizeof *s->asleep_end);
    f((void **)&s->nodes, n * sizeof *s->nodes);
    f((void **)&s->trees, n * sizeof *s->trees);
    f((void **)&s->trail_stack, n * sizeof *s->trail_stack);
    f((void **)&s->out.data, s->out.capacity);
    f((void **)&s->in.data, s->in.capacity);
}

void mz_share_init(struct mz_exploration *x)
{
    if (!mz_shared(x)) return;
    x->share.out.capacity = x->share.in.capacity = x->options.share->room;
    x->share.knowledge_due = true;
    each_array(x, mz_array_reserve);
}

static void forget_task(struct mz_exploration *x)
{
    x->share.root = x->share.floor = 0;
    mz_wakeup_clear(x, &x->share.guide);
}

/* For another program. */
void mz_share_reuse(struct mz_exploration *x)
{
    forget_task(x);
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

static struct mz_tally minus(struct mz_tally a, struct mz_tally b)
{
    return (struct mz_tally){a.executions - b.executions, a.blocked - b.blocked, a.cut - b.cut,
                             a.transitions - b.transitions};
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

/* What is known of a node stays true as long as that is the node at this depth. */
static void recognise(struct mz_exploration *x, uint32_t k, uint32_t name)
{
    if (x->share.nodes[k] == name && name) return;
    mz_wakeup_clear(x, &x->share.trees[k]);
    x->share.nodes[k] = name;
}

bool mz_explore_task(struct mz_exploration *x, struct mz_message *m)
{
    struct mz_share *s = &x->share;
    uint32_t asleep = 0;
    mz_rewind_all(x);
    forget_task(x);
    s->told = mz_tally_of(&x->counters);
    if (mz_get(m) != MZ_SHARE_TASK) return false;
    get_knowledge(x, m);
    uint32_t root = mz_get_count(m, 12), any = mz_get(m);
    if (root + 2 >= x->capacity) return false;
    for (uint32_t k = 0; k < root; k++) {
        recognise(x, k, mz_get(m));
        uint32_t word = mz_get(m);
        s->steps[k] = (struct mz_step){(uint8_t)(word & 0xff), (uint8_t)(word >> 8 & 0xff)};
        s->asleep_end[k] = asleep = get_elems(x, m, s->asleep, asleep);
    }
    mz_get_tree(x, m, &s->guide);
    s->root = root;
    s->floor = any && root ? root - 1 : root;
    return !m->bad;
}

void mz_explore_task_done(struct mz_exploration *x)
{
    struct mz_message *m = begin(x, MZ_SHARE_DONE);
    struct mz_tally now = mz_tally_of(&x->counters);
    mz_put_tally(m, minus(now, x->share.told));
    x->share.told = now;
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
    x->share.told = mz_tally_of(&x->counters);
    x->share.knowledge_due = true;
    put_knowledge(x, begin(x, MZ_SHARE_RESTART));
    send(x);
}

static uint32_t before(const uint32_t *ends, uint32_t k) { return k ? ends[k - 1] : 0; }

/* A step on the way to the root. */
struct mz_step mz_share_step(struct mz_exploration *x, uint32_t k)
{
    struct mz_share *s = &x->share;
    struct mz_node *n = &x->nodes[k];
    struct mz_step step = s->steps[k], nobody = {MZ_NOBODY, 0};
    const struct mz_pending *p = &x->view->pending[step.thread % MZ_MAX_THREADS];
    x->ending = MZ_ENDING_DIVERGED;
    if (step.thread >= MZ_MAX_THREADS || !(n->enabled & mz_bit(step.thread))) return nobody;
    for (uint32_t i = before(s->asleep_end, k); i < s->asleep_end[k]; i++) mz_sleep_add(x, k, s->asleep[i]);
    x->nodes[k + 1].wakeup = 0;
    if (k + 1 == s->root) {
        x->nodes[k + 1].wakeup = s->guide;
        s->guide = 0;
    }
    if (step.choice == MZ_ANY) {
        x->ending = MZ_ENDING_ASLEEP;
        if (!mz_choose(x, k, &step)) return nobody;
    } else if (step.choice >= 64 || !(p->choices & mz_bit(step.choice))) {
        return nobody;
    }
    n->backtrack = mz_bit(step.thread);
    n->step = step;
    return step;
}

/* ---- splitting ---- */

static bool has_backtrack_sets(const struct mz_exploration *x)
{
    return x->reduction->next == mz_next_in_backtrack;
}

/* Choices of the current thread that are left count as branches. */
static void list_choices(struct mz_exploration *x, uint32_t k)
{
    struct mz_node *n = &x->nodes[k];
    struct mz_elem e = mz_elem_of(&x->path.events[k]);
    if (!has_backtrack_sets(x)) return;
    n->choices &= ~mz_sleep_choices(x, k, e.thread);
    for (; n->choices; n->choices &= n->choices - 1) {
        e.choice = (uint8_t)__builtin_ctzll(n->choices);
        mz_wakeup_append(x, &n->wakeup, e);
    }
}

static bool has_branches(const struct mz_exploration *x, uint32_t k)
{
    const struct mz_node *n = &x->nodes[k];
    return n->wakeup || (has_backtrack_sets(x) && n->choices & ~mz_sleep_choices(x, k, n->step.thread));
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
    return found;
}

/* The branches that have been explored, the one that is being explored, those that are left. */
static void give_node(struct mz_exploration *x, struct mz_message *m, uint32_t k)
{
    struct mz_share *s = &x->share;
    struct mz_node *n = &x->nodes[k];
    uint32_t first = n->inherited;
    if (k + 1 == s->root) first += s->asleep_end[k] - before(s->asleep_end, k); /* those came with the task */
    mz_put(m, n->sleep_count - first);
    for (uint32_t i = first; i < n->sleep_count; i++) mz_put_elem(x, m, x->sleep[n->sleep_start + i]);
    mz_put_elem(x, m, mz_elem_of(&x->path.events[k]));
    list_choices(x, k);
    mz_put_tree(x, m, n->wakeup);
    mz_wakeup_clear(x, &n->wakeup);
    n->done = n->backtrack & ~mz_bit(n->step.thread);
}

void mz_share_offer(struct mz_exploration *x)
{
    struct mz_share *s = &x->share;
    enum mz_share_wish wish = x->options.share->wish(x->options.system);
    if (mz_likely(wish == MZ_SHARE_KEEP)) return;
    uint32_t n = node_to_give(x, wish);
    if (n == UINT32_MAX) return;
    struct mz_message *m = begin(x, MZ_SHARE_SPLIT);
    put_knowledge(x, m);
    mz_put_tally(m, minus(x->nodes[n].before, s->told));
    mz_put(m, s->floor);
    mz_put(m, n + 1 - s->floor);
    for (uint32_t k = s->floor; k <= n; k++) {
        give_node(x, m, k);
        recognise(x, k, 0);
    }
    /* Should the branch have to be explored again by somebody else: how to begin. */
    mz_put_tree(x, m, x->nodes[n].original);
    s->told = x->nodes[n].before;
    s->root = s->floor = n + 1;
    send(x);
}

/* ---- races of the balancer's nodes ---- */

static struct mz_message *ask(struct mz_exploration *x)
{
    mz_message_clear(&x->share.in);
    x->options.share->ask(x->options.system, &x->share.out, &x->share.in);
    MZ_ASSERT(mz_get(&x->share.in) == MZ_SHARE_REPLY);
    return &x->share.in;
}

static void learn(struct mz_exploration *x, uint32_t k, struct mz_message *m)
{
    uint32_t *list = &x->share.trees[k];
    x->share.nodes[k] = mz_get(m);
    for (uint32_t length = mz_get_count(m, MZ_WIRE + 4); length > 0; length--) {
        struct mz_elem e = mz_get_elem(x, m);
        list = &x->wakeup[mz_wakeup_place(x, list, e, mz_get(m))].child;
    }
    MZ_ASSERT(!m->bad);
}

/* The race is that of x->sequence. Is it settled? */
bool mz_share_reverse(struct mz_exploration *x, uint32_t k)
{
    struct mz_sequence *v = &x->sequence;
    const struct mz_race *race = v->race;
    enum mz_cover cover = mz_sleep_covers(x, k, v);
    if (cover == MZ_UNCOVERED) cover = mz_wakeup_covers(x, x->share.trees[k], v);
    if (cover != MZ_UNCOVERED) return cover == MZ_SETTLED;
    mz_sequence_build(x, race);
    uint32_t keep = v->keep;
    mz_sequence_complete(x, v);
    struct mz_message *m = begin(x, MZ_SHARE_UPDATE);
    mz_put(m, k);
    mz_put(m, v->core);
    mz_put(m, keep);
    mz_put(m, v->count);
    mz_put(m, x->lanes);
    for (uint32_t i = 0; i < v->count; i++) {
        mz_put_elem(x, m, v->elems[i]);
        mz_put(m, v->numbers[i]);
        if (v->numbers[i]) mz_put_bytes(m, mz_sequence_clock(x, v, i), x->lanes * sizeof(uint32_t));
    }
    learn(x, k, ask(x));
    return false;
}

void mz_share_backtrack(struct mz_exploration *x, uint32_t k, uint64_t initials, struct mz_elem e)
{
    struct mz_node *n = &x->nodes[k];
    e.choice = mz_has_choices(e.op) ? MZ_ANY : 0;
    if (k >= x->share.root) {
        n->backtrack |= mz_bit(e.thread);
        mz_wakeup_append(x, &n->wakeup, e);
        return;
    }
    struct mz_message *m = begin(x, MZ_SHARE_UPDATE);
    mz_put(m, k);
    mz_put_long(m, initials | mz_bit(e.thread));
    mz_put_elem(x, m, e);
    m = ask(x);
    uint64_t set = mz_get_long(m);
    MZ_ASSERT(set & (initials | mz_bit(e.thread)));
    n->backtrack |= set;
    n->done |= set & ~mz_bit(n->step.thread); /* not here */
}
