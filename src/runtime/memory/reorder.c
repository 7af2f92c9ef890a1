/* Finds atomic accesses that could be reordered.
 *
 * The search runs atomic accesses one after the other, as if all were seq_cst. This is complete for a program
 * that uses no other memory order (C11, 7.17.3: without data races, such a program is sequentially
 * consistent). With weaker orders, two accesses of a thread to different objects may take effect in the other
 * order, and other threads may notice. This file finds such pairs, so that the report can name them. It
 * explores nothing.
 *
 * A pair (a, b) of accesses of thread t to different objects, a before b in the program, is *unordered* if
 *
 *     a writes, b reads     and not both are seq_cst, and no seq_cst fence is between them
 *     a writes, b writes    and b is no release, and no release fence is between them
 *     a reads,  b reads     and a is no acquire, and no acquire fence is between them
 *     a reads,  b writes    and a is no acquire, b is no release, and no such fence is between them
 *
 * Other threads can notice the reordering only if there is a cycle: from b by a conflict to an access of
 * another thread, from there by program order and conflicts, and by a conflict back to a (Shasha and Snir,
 * 1988). A conflict is two accesses of different threads to one object, at least one of them a write, that
 * the synchronization order (C11's happens-before) left unordered in some execution. So data that is
 * published by a release and read after an acquire is no conflict. Program order and conflicts are collected
 * over all executions, by thread, object and kind of access. So a cycle may consist of parts of different
 * executions: the report may name a pair that no thread can notice, but it never misses a pair. One known
 * gap: acquire loads of two objects by two threads may see the stores of two other threads in different
 * orders (IRIW); there, the accesses of each thread are in order.
 *
 * Cost: nothing unless the program has used an order other than seq_cst. Then every execution is searched for
 * unordered pairs, with a few operations on bit sets for each access. Conflicts are searched for in the first
 * executions, then in fewer and fewer, and whenever a thread accesses an object in a new way.
 *
 * All data is kept: none of it belongs to an execution. */
#include "base/region.h"
#include "base/table.h"
#include "runtime/core/operation.h"
#include "runtime/core/runtime.h"
#include "runtime/memory/memory.h"
#include "runtime/memory/race_order_log.h"
#include "runtime/memory/room.h"

#define OBJECTS MZ_REORDER_OBJECTS
#define TABLE   MZ_REORDER_TABLE
#define ALWAYS  64u /* the first executions: conflicts are always looked for */
#define NONE    255u

enum { READS, WRITES, KINDS };
_Static_assert(KINDS == MZ_REORDER_KINDS, "room.h has as many");

/* Accesses of a thread, in the current execution, that a later access may be unordered with. */
struct thread {
    /* Writes since the last seq_cst fence: */
    struct mz_object_set wrote_sc, wrote_weakly;
    /* All writes since the last release fence: */
    struct mz_object_set wrote;
    /* Reads that are not acquire, since the last acquire fence: */
    struct mz_object_set read;
    /* The same, since the last acquire or release fence: */
    struct mz_object_set read_before;
    /* All accesses: */
    struct mz_object_set seen[KINDS];
};

struct vector { /* for each thread, how many of its accesses happen before */
    uint32_t count[MZ_SLOTS];
};

struct knowledge { /* C11's happens-before in the current execution */
    struct vector thread[MZ_SLOTS], met[MZ_SLOTS], fence[MZ_SLOTS];
    struct vector object[TABLE];             /* what an acquire joins */
    uint8_t head[TABLE];                     /* slot + 1 of the thread that heads the release sequence */
    uint32_t last[OBJECTS][KINDS][MZ_SLOTS]; /* number of a thread's last access */
};

#define re mz_memory_room.reorder

/* ---- sets ---- */

static void add(struct mz_object_set *s, unsigned i) { s->word[i / 64] |= (uint64_t)1 << (i % 64); }
static void drop(struct mz_object_set *s, unsigned i) { s->word[i / 64] &= ~((uint64_t)1 << (i % 64)); }

static bool is_acquire(int order) { return order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE; }

/* Returns the entry of the object with this number of the engine; -1: there are too many objects. */
static int slot_of(uint32_t number)
{
    uint64_t *there = mz_key_find(re.number, sizeof *re.number, TABLE - 1, mz_table_hash(number), number);
    int i = (int)(there - re.number);
    if (*there) return i;
    if (re.entries == TABLE / 2) {
        re.too_many = true;
        return -1;
    }
    re.entries++;
    *there = number;
    re.index[i] = NONE;
    return i;
}

/* Returns the number of an atomic object in this file; -1: there are too many objects. */
static int index_of(uint32_t number, uint64_t key)
{
    int i = slot_of(number);
    if (i < 0) return -1;
    if (re.index[i] == NONE) {
        if (re.object_count == OBJECTS) {
            re.too_many = true;
            return -1;
        }
        re.index[i] = (uint8_t)re.object_count;
        re.key[re.object_count++] = key;
    }
    return re.index[i];
}

/* ---- unordered pairs ---- */

static void add_pair(int slot, int kind, unsigned a, int with, unsigned b, uint64_t pc)
{
    if (re.pair_count == MZ_REORDER_PAIRS) re.too_many = true;
    if (re.pair_count == MZ_REORDER_PAIRS) return;
    re.pairs[re.pair_count++] = (struct mz_reorder_pair){.thread = (uint8_t)slot,
                                                         .kind = {(uint8_t)kind, (uint8_t)with},
                                                         .object = {(uint8_t)a, (uint8_t)b},
                                                         .pc = {re.pc[slot][kind][a], pc}};
    re.news = true;
}

/* The thread accesses b now, as `with`. Its earlier accesses of kind `kind` to the objects in u are unordered
 * with that. */
static void add_unordered(int slot, int kind, const struct mz_object_set *u, int with, unsigned b,
                          uint64_t pc)
{
    struct mz_object_set *known = &re.paired[slot][with][b][kind];
    for (unsigned w = 0; w < (OBJECTS / 64); w++) {
        uint64_t news = u->word[w] & ~known->word[w];
        if (mz_likely(!news)) continue;
        known->word[w] |= news;
        for (; news; news &= news - 1) {
            unsigned a = w * 64 + (unsigned)__builtin_ctzll(news);
            if (a != b) add_pair(slot, kind, a, with, b, pc);
        }
    }
}

static void look_before_read(struct thread *t, int slot, unsigned b, int order, uint64_t pc)
{
    add_unordered(slot, WRITES, &t->wrote_weakly, READS, b, pc);
    if (order != __ATOMIC_SEQ_CST) add_unordered(slot, WRITES, &t->wrote_sc, READS, b, pc);
    add_unordered(slot, READS, &t->read, READS, b, pc);
}

static void look_before_write(struct thread *t, int slot, unsigned b, int order, uint64_t pc)
{
    if (mz_is_release(order)) return;
    add_unordered(slot, WRITES, &t->wrote, WRITES, b, pc);
    add_unordered(slot, READS, &t->read_before, WRITES, b, pc);
}

/* Adds the access to the program order. */
static void note_access(struct thread *t, int slot, int kind, unsigned o, uint64_t pc)
{
    for (int k = 0; k < KINDS; k++)
        for (unsigned w = 0; w < (OBJECTS / 64); w++)
            re.before[slot][kind][o][k].word[w] |= t->seen[k].word[w];
    add(&t->seen[kind], o);
    re.pc[slot][kind][o] = pc;
    if (!(re.accessed[o][kind] & mz_slot_bit(slot))) re.news = true;
    re.accessed[o][kind] |= mz_slot_bit(slot);
}

static void read_access(struct thread *t, int slot, unsigned o, int order, uint64_t pc)
{
    look_before_read(t, slot, o, order, pc);
    note_access(t, slot, READS, o, pc);
    if (is_acquire(order)) return;
    add(&t->read, o);
    add(&t->read_before, o);
}

static void write_access(struct thread *t, int slot, unsigned o, int order, uint64_t pc)
{
    look_before_write(t, slot, o, order, pc);
    note_access(t, slot, WRITES, o, pc);
    add(order == __ATOMIC_SEQ_CST ? &t->wrote_sc : &t->wrote_weakly, o);
    if (order == __ATOMIC_SEQ_CST) drop(&t->wrote_weakly, o);
    add(&t->wrote, o);
}

static void fence(struct thread *t, int order)
{
    static const struct mz_object_set empty;
    if (order == __ATOMIC_SEQ_CST) t->wrote_sc = t->wrote_weakly = empty;
    if (mz_is_release(order)) t->wrote = t->read_before = empty;
    if (is_acquire(order)) t->read = t->read_before = empty;
}

static void look_for_pairs(const struct mz_sync_entry *e, const struct mz_event *event)
{
    struct thread *t = &re.threads[e->thread];
    if (e->kind == MZ_SYNC_FENCE) fence(t, e->order);
    if (e->kind > MZ_SYNC_UPDATE) return;
    int o = index_of(e->object, event->key);
    if (o < 0) return;
    if (e->kind != MZ_SYNC_STORE) read_access(t, e->thread, (unsigned)o, e->order, event->pc);
    if (e->kind != MZ_SYNC_READ) write_access(t, e->thread, (unsigned)o, e->order, event->pc);
}

/* ---- conflicts ---- */

static void join(struct vector *to, const struct vector *from)
{
    for (uint32_t t = 0; t < rt.slots_known; t++)
        if (from->count[t] > to->count[t]) to->count[t] = from->count[t];
}

/* The thread accesses object o now: add the conflicts with accesses of other threads. */
static void look_for_conflict(int slot, int kind, int o)
{
    const struct vector *v = &re.known->thread[slot];
    for (int k = kind == WRITES ? READS : WRITES; k < KINDS; k++)
        for (uint32_t t = 0; t < rt.slots_known; t++) {
            if ((int)t == slot || re.known->last[o][k][t] <= v->count[t]) continue;
            re.conflict[o][kind][k][slot] |= mz_slot_bit((int)t);
            re.conflict[o][k][kind][t] |= mz_slot_bit(slot);
        }
}

static void count_access(int slot, int kind, int o)
{
    struct knowledge *k = re.known;
    look_for_conflict(slot, kind, o);
    k->last[o][kind][slot] = ++k->thread[slot].count[slot];
}

/* Does what race_order.c does when it processes its log, but with one vector for an object instead of one for
 * each thread that heads a release sequence. */
static void synchronize_atomic(const struct mz_sync_entry *e, int i)
{
    struct knowledge *k = re.known;
    struct vector *me = &k->thread[e->thread];
    if (e->kind != MZ_SYNC_STORE) join(is_acquire(e->order) ? me : &k->met[e->thread], &k->object[i]);
    if (e->kind == MZ_SYNC_READ) return;
    if (e->kind == MZ_SYNC_STORE && k->head[i] != e->thread + 1) k->object[i] = (struct vector){{0}};
    join(&k->object[i], mz_is_release(e->order) ? me : &k->fence[e->thread]);
    if (e->kind == MZ_SYNC_STORE) k->head[i] = (uint8_t)(e->thread + 1);
}

static void synchronize(const struct mz_sync_entry *e)
{
    struct knowledge *k = re.known;
    struct vector *me = &k->thread[e->thread];
    int i = e->object ? slot_of(e->object) : -1;
    if (e->kind == MZ_SYNC_FENCE && is_acquire(e->order)) join(me, &k->met[e->thread]);
    if (e->kind == MZ_SYNC_FENCE && mz_is_release(e->order)) k->fence[e->thread] = *me;
    if (e->kind == MZ_SYNC_SPAWN) k->thread[e->other] = *me;
    if (e->kind == MZ_SYNC_JOIN) join(me, &k->thread[e->other]);
    if (i < 0) return;
    if (e->kind <= MZ_SYNC_UPDATE) synchronize_atomic(e, i);
    if (e->kind == MZ_SYNC_ACQUIRE || e->kind == MZ_SYNC_ACQUIRE_ALL) join(me, &k->object[i]);
    if (e->kind == MZ_SYNC_RELEASE) k->object[i] = *me;
    if (e->kind == MZ_SYNC_RELEASE_PART) join(&k->object[i], me);
}

static void look_for_conflicts(const struct mz_sync_entry *e, const struct mz_event *event)
{
    int o = e->kind <= MZ_SYNC_UPDATE ? index_of(e->object, event->key) : -1;
    if (o >= 0 && e->kind != MZ_SYNC_STORE) count_access(e->thread, READS, o);
    if (o >= 0 && e->kind != MZ_SYNC_READ) count_access(e->thread, WRITES, o);
    synchronize(e);
}

/* ---- cycles ---- */

/* Marks as reached all accesses that conflict with this access, or precede such an access in its thread.
 * Returns true if one of them is new. */
static bool reach(int slot, int kind, unsigned o, int avoid)
{
    bool news = false;
    for (int k = 0; k < KINDS; k++)
        for (uint64_t others = re.conflict[o][kind][k][slot]; others; others &= others - 1) {
            int u = __builtin_ctzll(others);
            if (u == avoid) continue;
            struct mz_object_set all[KINDS];
            for (int l = 0; l < KINDS; l++) all[l] = re.before[u][k][o][l];
            add(&all[k], o);
            for (int l = 0; l < KINDS; l++)
                for (unsigned w = 0; w < (OBJECTS / 64); w++) {
                    news |= (all[l].word[w] & ~re.reached[u][l].word[w]) != 0;
                    re.reached[u][l].word[w] |= all[l].word[w];
                }
        }
    return news;
}

static bool reach_from(int u, int avoid)
{
    bool news = false;
    for (int k = 0; k < KINDS; k++)
        for (unsigned w = 0; w < (OBJECTS / 64); w++)
            for (uint64_t bits = re.reached[u][k].word[w]; bits; bits &= bits - 1)
                news |= reach(u, k, w * 64 + (unsigned)__builtin_ctzll(bits), avoid);
    return news;
}

/* Does b conflict with an access from which there is a path to a, through other threads? */
static bool is_on_cycle(const struct mz_reorder_pair *p)
{
    mz_raw_memset(re.reached, 0, sizeof re.reached);
    bool news = reach(p->thread, p->kind[0], p->object[0], p->thread);
    while (news) {
        news = false;
        for (uint32_t u = 0; u < rt.slots_known; u++)
            if (u != p->thread) news |= reach_from((int)u, p->thread);
    }
    unsigned o = p->object[1];
    for (int k = 0; k < KINDS; k++)
        for (uint64_t others = re.conflict[o][p->kind[1]][k][p->thread]; others; others &= others - 1)
            if (re.reached[__builtin_ctzll(others)][k].word[o / 64] >> (o % 64) & 1) return true;
    return false;
}

static void report(const struct mz_reorder_pair *p)
{
    struct mz_channel *c = rt.channel;
    for (uint32_t i = 0; i < c->reorder_count; i++)
        if (c->reorders[i].pc[0] == p->pc[0] && c->reorders[i].pc[1] == p->pc[1]) return;
    if (c->reorder_count == MZ_MAX_REORDERS) return;
    c->reorders[c->reorder_count++] =
        (struct mz_reorder){.key = {re.key[p->object[0]], re.key[p->object[1]]},
                            .pc = {p->pc[0], p->pc[1]},
                            .writes = {p->kind[0] == WRITES, p->kind[1] == WRITES},
                            .thread = p->thread};
}

static void report_all(void)
{
    for (uint32_t i = 0; i < re.pair_count; i++) {
        struct mz_reorder_pair *p = &re.pairs[i];
        if (p->reported || !is_on_cycle(p)) continue;
        p->reported = 1;
        report(p);
    }
}

/* ---- an execution has ended ---- */

static void each_entry(void (*look)(const struct mz_sync_entry *, const struct mz_event *))
{
    for (uint32_t k = 0; k < rt.path->depth; k++) {
        uint32_t count;
        const struct mz_sync_entry *e = mz_sync_of_event(k, &count);
        for (uint32_t i = 0; i < count; i++) look(&e[i], &rt.path->events[k]);
    }
}

static void forget_knowledge(void)
{
    struct knowledge *k = re.known;
    mz_raw_memset(k, 0, offsetof(struct knowledge, object));
    mz_raw_memset(k->head, 0, sizeof k->head);
    mz_raw_memset(k->last, 0, re.object_count * sizeof *k->last);
    for (uint32_t i = 0; i < TABLE; i++)
        if (re.number[i]) k->object[i] = (struct vector){{0}};
}

static void init(void)
{
    re.threads = mz_region_reserve(MZ_SLOTS * sizeof *re.threads);
    re.known = mz_region_reserve(sizeof *re.known);
    MZ_ASSERT(re.threads && re.known);
}

void mz_reorder_look(void)
{
    if (mz_likely(!mz_sync_is_weak()) || rt.once) return;
    if (!re.threads) init();
    mz_raw_memset(re.threads, 0, rt.slots_known * sizeof *re.threads);
    each_entry(look_for_pairs);
    bool due = re.news || re.looked < ALWAYS || re.looked == re.next;
    if (re.looked++ >= re.next) re.next = re.looked * 2;
    if (!due || !re.pair_count) return;
    re.news = false;
    forget_knowledge();
    each_entry(look_for_conflicts);
    report_all();
    if (re.too_many)
        mz_unseen("weak memory is not explored, and more objects are accessed with weak memory orders than "
                  "can be compared");
}
