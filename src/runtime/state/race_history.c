/* The part of the past that decides about data races, as a part of the identity of a state.
 *
 * Two states of a program with the same memory and the same threads may differ in which accesses are ordered before what the
 * threads do next: one state leads to a data race, the other does not. So the remembered accesses (shadow_check.c) belong to the
 * state. Neither the thread that made an access nor the time matters, only which threads *know* of it: an access by thread
 * t in its epoch e (race_order.c) races with a later access by thread u if and only if u does not know epoch e of t. The
 * history of a state is the set of entries
 *
 *     (place, kind, K)
 *
 * for each access that the shadow remembers. K is the set of the knowers of the access: threads, and
 * everything that carries knowledge from one thread to another (mutexes, atomic objects, semaphores, fences,
 * threads that have ended and were not joined). An entry is dropped if all threads that may still do
 * something know it: new threads know what their creators know.
 *
 * H1  In a past without data races, all executions of a class (Mazurkiewicz) have the same history. The order of dependent
 *     events determines the last write to a byte, the last read of each thread since then, and which threads know of them:
 *     conflicting plain accesses are ordered by synchronization, which is part of that order. Cells are split and merged
 *     in different ways, so entries are by the byte: the hash of a cell is the sum of the hashes of its bytes.
 * H2  Two states with the same memory, threads and history have the same races later. Each step changes K by
 *     what is in K only: acquiring adds the thread if the object is in K, releasing adds (or removes) the
 *     object if the thread is in K (or not), creating and joining threads likewise. A new access has K = {its
 *     thread}. It replaces earlier accesses to the same bytes: a write replaces all (its thread knows all of
 *     them, or it is a race), a read replaces the last read of the same thread. In one state the replaced
 *     entry may be the thread's own, in the other it may be another thread's, which stays. That makes no
 *     difference: from then on, every thread that knows of the new access knows of that entry, too. So the
 *     entry decides nothing that the new access does not decide.
 * H3  So the states of a search are those of a transition system with deterministic steps in which independent steps
 *     commute, up to the first race, and the argument of stateful.h holds for it. A race in an execution is a race in every
 *     execution that continues its class, so an execution that is explored shows it.
 *
 * A thread that waits for the end of another thread will know all that this thread knows before it does anything. It counts
 * as knowing that now (unless a cancellation may end the wait).
 *
 * All accesses of a thread in one epoch have the same K for ever. They are a *group*, with the sum of the hashes of its
 * entries (place, kind). The history is the sum over all groups of that sum times the hash of K. So groups with the same
 * K count as one.
 *
 * Places that race_places.c calls FORKED are kept in the same way, but for a weaker order: that of creating and joining
 * threads alone. H1 to H3 hold for it as long as it orders all accesses to such places, which is checked. It tells far
 * fewer states apart: the last holder of a lock does not matter.
 *
 * The uses and the deletion of a thread-specific key are entries, too: whether they are ordered is the same kind of question
 * (keys.c).
 *
 * Atomic accesses (to the places that race_places.c names) are taken from the path, event by event. All data
 * here is rolled back with the program (mz_keep), and rebuilt when an execution runs again from the start. */
#include "base/region.h"
#include "base/table.h"
#include "runtime/memory/memory.h"
#include "runtime/memory/races.h"
#include "runtime/rewind/rewind.h"
#include "runtime/state/hash.h"
#include "runtime/state/room.h"

#define EPOCHS  (1u << 22)
#define ATOMICS (1u << 20)

struct last_atomic { /* the last atomic access of a thread to these bytes */
    uint64_t key;    /* kept */
    uint32_t execution, epoch;
};

#define rh mz_state_room.races

void mz_races_init(void)
{
    rh.full = mz_region_reserve((size_t)EPOCHS * MZ_SLOTS * sizeof *rh.full);
    rh.forked = mz_region_reserve(MZ_SLOTS * sizeof *rh.forked);
    rh.seen = mz_region_reserve(MZ_SLOTS * sizeof *rh.seen);
    rh.atomics = mz_region_reserve(ATOMICS * sizeof *rh.atomics);
    rh.keys = mz_region_reserve(ATOMICS * sizeof *rh.keys);
    MZ_ASSERT(rh.full && rh.forked && rh.seen && rh.atomics && rh.keys);
    mz_places_init();
}

void mz_races_begin(void)
{
    rh.full[0] = (struct mz_race_group){.execution = rt.execution};
    rh.touched = (struct mz_state){{0, 0}};
    rh.alone = true;
    mz_raw_memset(rh.seen[0], 0, sizeof rh.seen[0]);
}

/* ---- forks and joins ---- */

void mz_races_spawn(int parent, int child, uint32_t epoch)
{
    mz_keep(rh.seen[child], sizeof rh.seen[child]);
    mz_raw_memcpy(rh.seen[child], rh.seen[parent], sizeof rh.seen[child]);
    rh.seen[child][parent] = epoch;
}

void mz_races_join(int thread, int finished)
{
    mz_keep(rh.seen[thread], sizeof rh.seen[thread]);
    for (uint32_t s = 0; s < rt.slots_known; s++)
        if (rh.seen[thread][s] < rh.seen[finished][s]) rh.seen[thread][s] = rh.seen[finished][s];
    rh.seen[thread][finished] = UINT32_MAX;
}

bool mz_races_forked(int thread, int other, uint32_t epoch)
{
    return thread == other || rh.seen[thread][other] >= epoch;
}

/* Returns how many threads the thread had created before that epoch. All its accesses between two creations
 * are known to the same threads by forks and joins. */
static uint32_t forks_before(int thread, uint32_t epoch)
{
    uint32_t n = 0;
    while (n < rt.run.threads[thread].spawned && rt.run.threads[rt.child_slot[thread][n]].created_in < epoch)
        n++;
    return n;
}

/* ---- groups ---- */

static const uint64_t byte_weight[4] = {0x9e3779b97f4a7c15u, 0xbf58476d1ce4e5b9u, 0x94d049bb133111ebu,
                                        0xd6e8feb86659fd93u};

static struct mz_state entry_hash(enum mz_race_kind kind, uint64_t granule, unsigned mask)
{
    struct mz_state h = mz_hash_of(granule << 3 | kind, 0x2545f4914f6cdd1du);
    uint64_t weight = 0;
    for (unsigned i = 0; i < 4; i++)
        if (mask & 1u << i) weight += byte_weight[i];
    h.hash[0] *= weight;
    h.hash[1] *= weight;
    return h;
}

static uint32_t number_of(const struct mz_race_group *g) { return (uint32_t)(g - rh.full); }

static void keep_group(uint32_t g) { mz_keep(&rh.full[g], sizeof rh.full[g]); }

static void link_group(uint32_t g)
{
    uint32_t next = rh.full[0].next;
    keep_group(0);
    if (next) keep_group(next);
    rh.full[g].previous = 0;
    rh.full[g].next = next;
    rh.full[0].next = g;
    if (next) rh.full[next].previous = g;
}

static void unlink_group(uint32_t g)
{
    uint32_t before = rh.full[g].previous, next = rh.full[g].next;
    keep_group(before);
    rh.full[before].next = next;
    if (!next) return;
    keep_group(next);
    rh.full[next].previous = before;
}

static struct mz_race_group *group_of(unsigned level, int thread, uint32_t epoch)
{
    if (level == MZ_PLACE_FORKED) return &rh.forked[thread][forks_before(thread, epoch)];
    if (epoch >= EPOCHS) return NULL;
    return &rh.full[(size_t)thread * EPOCHS + epoch];
}

static void change(struct mz_race_group *g, bool listed, struct mz_state h, bool now)
{
    mz_keep(g, sizeof *g);
    if (g->execution != rt.execution) *g = (struct mz_race_group){.execution = rt.execution};
    if (now && !g->count++ && listed) link_group(number_of(g));
    if (!now && !--g->count && listed) unlink_group(number_of(g));
    g->sum[0] += now ? h.hash[0] : -h.hash[0];
    g->sum[1] += now ? h.hash[1] : -h.hash[1];
}

void mz_races_entry(unsigned level, int thread, uint32_t epoch, enum mz_race_kind kind, uint64_t granule,
                    unsigned mask, bool now)
{
    struct mz_race_group *g = group_of(level, thread, epoch);
    if (!g)
        mz_state_poison(); /* the epoch is too large for the table: a unique state */
    else
        change(g, level == MZ_PLACE_FULL, entry_hash(kind, granule, mask), now);
}

/* ---- atomic accesses ---- */

static struct last_atomic *find_atomic(uint64_t key, bool make)
{
    struct last_atomic *a = mz_key_find(rh.atomics, sizeof *a, ATOMICS - 1, mz_table_hash(key), key);
    if (a->key) return a;
    if (!make || rh.key_count >= ATOMICS / 2) return NULL;
    rh.keys[rh.key_count++] = key;
    a->key = key;
    return a;
}

#define ATOMIC_KEY(granule, mask, kind, thread)                                                              \
    ((granule) << 11 | (uint64_t)(mask) << 7 | (uint64_t)((kind) == MZ_ATOMIC_WRITE) << 6 |                  \
     (uint64_t)(thread))

static enum mz_race_kind kind_of_key(uint64_t key)
{
    return key & 1u << 6 ? MZ_ATOMIC_WRITE : MZ_ATOMIC_READ;
}

static void count_atomic(const struct last_atomic *a, bool now)
{
    mz_races_entry(MZ_PLACE_FULL, (int)(a->key & 63), a->epoch, kind_of_key(a->key), a->key >> 11,
                   (unsigned)(a->key >> 7 & 15), now);
}

/* The newest atomic access of a thread replaces the earlier ones. */
static void note_atomic(uint64_t key, uint32_t epoch)
{
    struct last_atomic *a = find_atomic(key, true);
    if (!a) {
        mz_state_poison();
        return;
    }
    if (a->execution == rt.execution && a->epoch == epoch) return;
    if (a->execution == rt.execution) count_atomic(a, false);
    mz_keep(a, sizeof *a);
    a->execution = rt.execution;
    a->epoch = epoch;
    count_atomic(a, true);
}

static void forget_atomic(uint64_t key)
{
    struct last_atomic *a = find_atomic(key, false);
    if (!a || a->execution != rt.execution) return;
    count_atomic(a, false);
    mz_keep(a, sizeof *a);
    a->execution = 0;
}

void mz_races_forget(uint32_t place, uint64_t granule)
{
    if (mz_place_touch(place, false)) {
        mz_keep(&rh.touched, sizeof rh.touched);
        mz_hash_take(&rh.touched, entry_hash(MZ_TOUCHED, granule, 1));
    }
    if (!mz_place_atomics(place)) return;
    for (uint32_t t = 0; t < rt.slots_known; t++)
        for (unsigned mask = 1; mask < 16; mask++) {
            forget_atomic(ATOMIC_KEY(granule, mask, MZ_ATOMIC_READ, t));
            forget_atomic(ATOMIC_KEY(granule, mask, MZ_ATOMIC_WRITE, t));
        }
}

static void touch(const struct mz_event *e, uint32_t epoch, bool write, uint64_t granule, unsigned mask)
{
    bool atomic;
    uint32_t place = mz_shadow_place(granule, &atomic);
    if (!atomic || !mz_place_mixed(place)) return;
    if (mz_place_touch(place, true)) {
        mz_keep(&rh.touched, sizeof rh.touched);
        mz_hash_add(&rh.touched, entry_hash(MZ_TOUCHED, granule, 1));
    }
    if (mz_place_atomics(place))
        note_atomic(ATOMIC_KEY(granule, mask, write ? MZ_ATOMIC_WRITE : MZ_ATOMIC_READ, e->thread), epoch);
}

/* Like past_atomic in shadow_check.c: the use of a synchronization object is a change of its first bytes. */
static void note_event(const struct mz_event *e, uint32_t epoch)
{
    bool memory = mz_op_in(MZ_OPS_ATOMIC, e->op) && e->size;
    uint64_t at = e->key, end = at + (memory ? e->size : 4u);
    while (at < end) {
        uint64_t next = (at / 4 + 1) * 4, to = next < end ? next : end;
        unsigned mask = ((1u << (to - at)) - 1) << at % 4;
        touch(e, epoch, !memory || e->access == MZ_WRITES, at / 4, mask);
        at = next;
    }
}

/* The last step is over: add the atomic access of its event. */
void mz_races_node(void)
{
    uint32_t k = rt.path->depth;
    bool alone =
        !(rt.view.alive & (rt.view.alive - 1)) && rt.view.alive && mz_alone(__builtin_ctzll(rt.view.alive));
    if (k && !rh.alone) note_event(&rt.path->events[k - 1], mz_sync_event_epoch(k - 1));
    if (alone == rh.alone) return;
    mz_keep(&rh.alone, sizeof rh.alone);
    rh.alone = alone;
}

/* ---- knowers ---- */

static void look_at_threads(void)
{
    rh.live = rh.ended = 0;
    for (uint32_t s = 0; s < rt.slots_known; s++) {
        const struct mz_thread *t = &rt.run.threads[s];
        bool over = t->state == MZ_THREAD_FAILED || t->state == MZ_THREAD_EXITING;
        if (rt.view.alive & mz_slot_bit((int)s) && !over) rh.live |= mz_slot_bit((int)s);
        if (t->state == MZ_THREAD_FINISHED && !t->joined_by) rh.ended |= mz_slot_bit((int)s);
    }
}

/* Returns the threads in `known`, and the threads that wait for their ends. */
static uint64_t with_joiners(uint64_t known)
{
    for (uint64_t before = 0; before != known && !rt.uses.cancel;) {
        before = known;
        for (uint64_t t = rh.live & ~known; t; t &= t - 1) {
            const struct mz_thread *u = &rt.run.threads[__builtin_ctzll(t)];
            if (u->state == MZ_THREAD_JOINING && known & mz_slot_bit(u->joining)) known |= t & -t;
        }
    }
    return known & (rh.live | rh.ended);
}

static uint64_t forked_knowers(int thread, uint32_t forks)
{
    const struct mz_thread *t = &rt.run.threads[thread];
    uint32_t last = forks < t->spawned ? rt.run.threads[rt.child_slot[thread][forks]].created_in : UINT32_MAX;
    uint64_t known = 0;
    for (uint64_t u = rh.live | rh.ended; u; u &= u - 1)
        if (mz_races_forked(__builtin_ctzll(u), thread, last)) known |= u & -u;
    return with_joiners(known);
}

static void add_knower(void *data, uint64_t knower)
{
    mz_hash_add(data, mz_hash_of(knower, 0x369dea0f31a53f85u));
}

/* Adds the group as one entry: its sum, multiplied by the hash of its knowers. */
static void add_group(struct mz_state *out, const struct mz_race_group *g, struct mz_state known)
{
    for (unsigned i = 0; i < 2; i++)
        out->hash[i] += g->sum[i] * (mz_fold(known.hash[i] ^ byte_weight[i], byte_weight[i + 2]) | 1);
}

static void add_forked(struct mz_state *out)
{
    for (uint32_t t = 0; t < rt.slots_known; t++)
        for (uint32_t n = 0; n <= rt.run.threads[t].spawned; n++) {
            const struct mz_race_group *g = &rh.forked[t][n];
            if (g->execution != rt.execution || !g->count) continue;
            uint64_t threads = forked_knowers((int)t, n);
            if (rh.live & ~threads) add_group(out, g, mz_hash_of(MZ_PLACE_FORKED, threads));
        }
}

static void add_full(struct mz_state *out)
{
    for (uint32_t g = rh.full[0].next; g; g = rh.full[g].next) {
        struct mz_state known = {{0, 0}};
        uint64_t threads = mz_sync_knowers((int)(g / EPOCHS), g % EPOCHS, add_knower, &known);
        threads = with_joiners(threads);
        if (!(rh.live & ~threads)) continue;
        mz_hash_add(&known, mz_hash_of(MZ_PLACE_FULL, threads));
        add_group(out, &rh.full[g], known);
    }
}

void mz_races_hash(struct mz_state *out)
{
    uint32_t count;
    mz_places_tracked(&count);
    if (!count && !rh.full[0].next) return;
    look_at_threads();
    mz_hash_add(out, rh.touched);
    add_forked(out);
    add_full(out);
}

/* ---- the history as a whole, to be compared exactly ---- */

struct writer {
    void (*write)(const void *bytes, size_t size);
    uint64_t granule;
    unsigned level, bytes; /* only entries of these bytes, because cells may be split or not */
};

static void write_word(const struct writer *w, uint64_t word) { w->write(&word, sizeof word); }

static void write_knower(void *data, uint64_t knower) { write_word(data, knower); }

static void count_knower(void *data, uint64_t knower)
{
    (void)knower;
    ++*(uint64_t *)data;
}

static void write_entry(void *data, int thread, uint32_t epoch, enum mz_race_kind kind, unsigned mask)
{
    struct writer *w = data;
    uint64_t threads, others = 0;
    bool forked = w->level == MZ_PLACE_FORKED;
    if (!(mask & w->bytes) || w->level == MZ_PLACE_FREE || (!forked && epoch >= EPOCHS)) return;
    threads = forked ? forked_knowers(thread, forks_before(thread, epoch))
                     : with_joiners(mz_sync_knowers(thread, epoch, count_knower, &others));
    if (!(rh.live & ~threads)) return;
    write_word(w, w->granule << 3 | kind);
    write_word(w, (uint64_t)(mask & w->bytes) << 32 | others);
    write_word(w, threads);
    if (!forked) mz_sync_knowers(thread, epoch, write_knower, w);
}

static void write_key(void *data, uint64_t granule, int thread, uint32_t epoch, enum mz_race_kind kind)
{
    struct writer *w = data;
    w->granule = granule;
    write_entry(w, thread, epoch, kind, 1);
}

void mz_races_bytes(void (*write)(const void *bytes, size_t size))
{
    uint32_t count;
    const uint64_t *granules = mz_places_tracked(&count);
    struct writer w = {write, 0, MZ_PLACE_FULL, 0xf};
    look_at_threads();
    for (uint32_t i = 0; i < count; i++) {
        bool atomic;
        uint32_t place = mz_shadow_place(granules[i], &atomic);
        w.granule = granules[i];
        w.level = mz_place_level(place);
        for (w.bytes = 1; w.bytes < 16; w.bytes *= 2) mz_shadow_each(granules[i], write_entry, &w);
        write_word(&w, mz_place_touched(place));
    }
    w.level = MZ_PLACE_FULL;
    w.bytes = 0xf;
    for (uint32_t i = 0; i < rh.key_count; i++) {
        const struct last_atomic *a = find_atomic(rh.keys[i], false);
        w.granule = a->key >> 11;
        if (a->execution == rt.execution)
            write_entry(&w, (int)(a->key & 63), a->epoch, kind_of_key(a->key), (unsigned)(a->key >> 7 & 15));
    }
    rt.up.keys_past(write_key, &w);
}
