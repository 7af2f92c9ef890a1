/* Data races between plain accesses, and between plain and atomic ones.
 *
 * Every 4 bytes of program memory that were ever accessed have a cell: who wrote last, who has read since, in
 * which epoch of theirs (sync.c). A cell carries the number of the execution that it describes: cells of
 * other executions count as empty, so nothing is cleared. Exact: a cell whose bytes were accessed differently
 * is split into cells of one byte; a cell with several readers has a vector of their epochs. Reads are only
 * forgotten when a write that they are ordered before covers them, so a write that races with any earlier
 * access is noticed at the first such access.
 *
 * Whether there is an object at all (memory.c) is asked on the slow way only. A cell of freed memory is in a
 * form of its own, so that it never takes the quick way.
 *
 * Whole pages: a page of memory has 32 KiB of cells. memset and memcpy of much memory would write eight times as much
 * to cells as to memory. So a page that is accessed as a whole has one cell for all of it, struct summary, until
 * somebody accesses a part.
 *  W1  While summary.all.execution is rt.execution, that cell stands for all 1024 cells of the page, which may
 *      contain anything (but for what cells keep for ever). No page with such a summary is in sh.cache: the quick
 *      way always finds cells.
 *  W2  A summary begins only if no cell of the page was used in this execution (summary.used), and only where no
 *      atomic object lies. It has no vector of readers.
 *  W3  To end a summary (spread) is to write it to all cells. These, the summary and the cache are kept before
 *      (mz_keep), so going back restores W1.
 *  W4  The stateful algorithms and --data-races=allow have no summaries: they look at single granules.
 *
 * No race is reported while replaying: it was when the step was new. Cells are kept up all the same. */
#include "heap.h"
#include "races.h"
#include "pthread_objects.h"

#include "../base/region.h"

#define GRANULE    4u
#define PAGE       4096u
#define CELLS      (PAGE / GRANULE)
#define TABLE      (1u << 20) /* pages */
#define CACHE      256u
#define POOL       (1u << 22) /* split cells and reader vectors of one execution */
#define NOBODY_YET 255u

enum { SIMPLE, SPLIT, FREED };

struct cell {
    uint32_t execution;
    uint32_t write_epoch, read_epoch;
    uint32_t more;          /* SPLIT: first of four cells; else: vector of readers, or 0 */
    uint8_t mask;           /* bytes of the granule that it describes */
    uint8_t writer, reader; /* slot, or NOBODY_YET */
    uint8_t form;
    uint8_t atomic;  /* kept: some atomic object lies here */
    uint8_t sound;   /* kept: all of it is part of some object, for ever */
    uint8_t counted; /* enum mz_place_level as which its accesses are in the history */
    uint8_t unused;
    uint32_t write_pc, read_pc; /* low halves: of the first access in its epoch */
};

struct summary { /* of a page */
    struct cell all;
    uint32_t used;   /* execution in which a single cell was last used */
    uint32_t atomic; /* kept: some atomic object lies here */
};

struct page {
    uint64_t page;
    struct cell *cells;
};

static struct {
    struct page cache[CACHE], *table;
    struct cell *cells;        /* all pages of cells, handed out one after the other */
    struct summary *summaries; /* in the same order */
    uint32_t pages;
    struct cell *split;
    uint32_t split_count;
    uint32_t (*readers)[MZ_SLOTS]; /* epochs; 0: has not read */
    uint32_t (*reader_pcs)[MZ_SLOTS];
    uint32_t reader_count;
} sh;

void mz_shadow_init(void)
{
    sh.table = mz_region_reserve(TABLE * sizeof *sh.table);
    sh.cells = mz_region_reserve((size_t)TABLE * CELLS * sizeof *sh.cells);
    sh.split = mz_region_reserve((size_t)POOL * sizeof *sh.split);
    sh.readers = mz_region_reserve((size_t)POOL * sizeof *sh.readers);
    sh.reader_pcs = mz_region_reserve((size_t)POOL * sizeof *sh.reader_pcs);
    sh.summaries = mz_region_reserve(TABLE * sizeof *sh.summaries);
    MZ_ASSERT(sh.table && sh.cells && sh.split && sh.readers && sh.reader_pcs && sh.summaries);
    for (uint32_t i = 0; i < CACHE; i++) sh.cache[i].page = ~0ull;
    mz_shadow_reset();
}

void mz_shadow_reset(void)
{
    sh.split_count = 0;
    sh.reader_count = 1;
}

/* Where the page is in the table, or belongs. */
static struct page *entry_of(uint64_t page)
{
    uint64_t i = (page * 0x9e3779b97f4a7c15ull) >> 44;
    while (sh.table[i].cells && sh.table[i].page != page) i = (i + 1) & (TABLE - 1);
    return &sh.table[i];
}

static struct page *known_page(uint64_t page)
{
    struct page *p = entry_of(page);
    if (p->cells) return p;
    MZ_ASSERT(sh.pages < TABLE / 2);
    p->page = page;
    p->cells = sh.cells + (size_t)sh.pages++ * CELLS;
    return p;
}

/* Of the page that the cell belongs to: a cell of `cells`, not of `split`. */
static inline struct summary *summary_of(const struct cell *c)
{
    return &sh.summaries[(size_t)(c - sh.cells) / CELLS];
}

static inline bool is_whole(const struct summary *s) { return s->all.execution == rt.execution; }

/* From now on each granule of the page has its own cell again. */
static void spread(const struct page *p, struct summary *s)
{
    const struct cell all = s->all;
    mz_keep(p->cells, CELLS * sizeof *p->cells);
    mz_keep(s, sizeof *s);
    mz_keep(&sh.cache[p->page % CACHE], sizeof sh.cache[0]);
    for (uint32_t i = 0; i < CELLS; i++) {
        struct cell *c = &p->cells[i], before = *c;
        *c = all;
        c->atomic = before.atomic;
        c->sound = before.sound;
    }
    s->all.execution = 0;
    s->used = rt.execution;
}

static __attribute__((noinline)) struct cell *find_page(uint64_t page)
{
    struct page *p = known_page(page);
    struct summary *s = summary_of(p->cells);
    if (mz_unlikely(is_whole(s))) spread(p, s);
    sh.cache[page % CACHE] = *p;
    return p->cells;
}

static inline struct cell *cell_of(uint64_t address)
{
    uint64_t page = address / PAGE;
    struct cell *cells =
        mz_likely(sh.cache[page % CACHE].page == page) ? sh.cache[page % CACHE].cells : find_page(page);
    return &cells[address % PAGE / GRANULE];
}

/* What is being accessed, for reports. */
struct access {
    uint64_t address;
    unsigned size;
    bool write, atomic;
    uint8_t op;
    uint64_t pc;
};

/* By the creation of this thread, or its end, or else? The log of the C11 order need not be worked off for
 * what everybody knows. */
static bool ordered(int other, uint32_t epoch)
{
    const struct mz_thread *me = &rt.run.threads[rt.self];
    if (me->parent == other + 1 && epoch <= me->created_in) return true;
    if (rt.run.threads[other].joined_by == rt.self + 1 || epoch <= me->knows[other]) return true;
    return epoch <= mz_sync_seen(rt.self, other);
}

static void race(const struct access *a, int other, uint8_t other_op, uint64_t other_pc)
{
    if (rt.allow_races) mz_visible_add(a->address, a->size);
    mz_finding_race(other, a->op, other_op, a->address, a->size, a->pc, (uint32_t)other_pc);
}

static void check_write(const struct cell *c, const struct access *a)
{
    if (c->writer != NOBODY_YET && c->writer != rt.self && !ordered(c->writer, c->write_epoch))
        race(a, c->writer, MZ_OP_WRITE, c->write_pc);
}

static void check_reads(const struct cell *c, const struct access *a)
{
    if (c->reader == NOBODY_YET) return;
    if (!c->more) {
        if (c->reader != rt.self && !ordered(c->reader, c->read_epoch))
            race(a, c->reader, MZ_OP_READ, c->read_pc);
        return;
    }
    for (uint32_t t = 0; t < rt.slots_known; t++) {
        uint32_t epoch = sh.readers[c->more][t];
        if (epoch && t != rt.self && !ordered((int)t, epoch))
            race(a, (int)t, MZ_OP_READ, sh.reader_pcs[c->more][t]);
    }
}

/* Those that are given up when an execution goes back are handed out again. */
static uint32_t new_readers(void)
{
    MZ_ASSERT(sh.reader_count < POOL);
    mz_keep(&sh.reader_count, sizeof sh.reader_count);
    return sh.reader_count++;
}

static void add_reader(struct cell *c, uint32_t epoch, uint64_t pc)
{
    mz_keep(c, sizeof *c);
    if (c->reader == NOBODY_YET || (c->reader == rt.self && !c->more)) {
        c->reader = rt.self;
        c->read_epoch = epoch;
        c->read_pc = (uint32_t)pc;
        return;
    }
    if (!c->more) {
        c->more = new_readers();
        for (uint32_t t = 0; t < MZ_SLOTS; t++) sh.readers[c->more][t] = 0;
        sh.readers[c->more][c->reader] = c->read_epoch;
        sh.reader_pcs[c->more][c->reader] = c->read_pc;
    }
    mz_keep(&sh.readers[c->more][rt.self], sizeof sh.readers[0][0]);
    mz_keep(&sh.reader_pcs[c->more][rt.self], sizeof sh.reader_pcs[0][0]);
    sh.readers[c->more][rt.self] = epoch;
    sh.reader_pcs[c->more][rt.self] = (uint32_t)pc;
}

/* An access to exactly the bytes that the cell describes. */
static void access_cell(struct cell *c, const struct access *a, bool live)
{
    uint32_t epoch = rt.run.threads[rt.self].epoch;
    bool mine = c->writer == rt.self && c->write_epoch == epoch;
    if (mine && (!a->write || c->reader == NOBODY_YET)) return;
    if (live) {
        check_write(c, a);
        if (a->write) check_reads(c, a);
    }
    if (a->atomic) return; /* atomic accesses are kept as events */
    if (!a->write) {
        add_reader(c, epoch, a->pc);
        return;
    }
    mz_keep(c, sizeof *c);
    c->writer = rt.self;
    c->write_epoch = epoch;
    c->write_pc = (uint32_t)a->pc;
    c->reader = NOBODY_YET;
    c->more = 0;
}

static void clear_cell(struct cell *c, uint8_t mask)
{
    mz_keep(c, sizeof *c);
    c->execution = rt.execution;
    c->more = 0;
    c->mask = mask;
    c->writer = c->reader = NOBODY_YET;
    c->form = SIMPLE;
    c->counted = 0;
}

static void split_cell(struct cell *c)
{
    MZ_ASSERT(sh.split_count + 4 < POOL);
    uint32_t first = sh.split_count;
    mz_keep(c, sizeof *c);
    mz_keep(&sh.split_count, sizeof sh.split_count);
    sh.split_count += 4;
    for (uint32_t i = 0; i < 4; i++) {
        struct cell *s = &sh.split[first + i];
        clear_cell(s, (uint8_t)(1u << i));
        if (!(c->mask & (1u << i))) continue;
        s->writer = c->writer;
        s->write_epoch = c->write_epoch;
        s->write_pc = c->write_pc;
        s->read_pc = c->read_pc;
        s->reader = c->reader;
        s->read_epoch = c->read_epoch;
        if (!c->more) continue;
        s->more = new_readers();
        mz_raw_memcpy(sh.readers[s->more], sh.readers[c->more], sizeof *sh.readers);
        mz_raw_memcpy(sh.reader_pcs[s->more], sh.reader_pcs[c->more], sizeof *sh.reader_pcs);
    }
    c->form = SPLIT;
    c->more = first;
}

/* Can a simple cell take in an access to other bytes and still describe all of its bytes alike? */
static bool widen_cell(struct cell *c, const struct access *a, uint8_t mask)
{
    uint32_t epoch = rt.run.threads[rt.self].epoch;
    bool written_now = c->writer == rt.self && c->write_epoch == epoch && c->reader == NOBODY_YET;
    bool read_now = c->reader == rt.self && c->read_epoch == epoch && !c->more && c->writer == NOBODY_YET;
    if (a->atomic) return false;
    if ((c->mask & mask) == mask && written_now) return true;
    if (!(a->write ? written_now : read_now)) return false;
    mz_keep(c, sizeof *c);
    c->mask |= mask;
    return true;
}

/* The first access to the granule in this execution: there is nothing to check. */
static void first_access(struct cell *c, const struct access *a, uint8_t mask)
{
    uint32_t epoch = rt.run.threads[rt.self].epoch;
    if (a->atomic) return;
    summary_of(c)->used = rt.execution;
    clear_cell(c, mask);
    if (a->write) {
        c->writer = rt.self;
        c->write_epoch = epoch;
        c->write_pc = (uint32_t)a->pc;
    } else {
        c->reader = rt.self;
        c->read_epoch = epoch;
        c->read_pc = (uint32_t)a->pc;
    }
}

static void access_granule(struct cell *c, const struct access *a, uint8_t mask, bool live)
{
    if (c->execution != rt.execution) {
        first_access(c, a, mask);
        return;
    }
    if (c->form == FREED) return; /* no data race but a use after free */
    if (c->form == SIMPLE && c->mask != mask) {
        if (widen_cell(c, a, mask)) return;
        split_cell(c);
    }
    if (c->form == SIMPLE) {
        access_cell(c, a, live);
        return;
    }
    for (uint32_t i = 0; i < 4; i++)
        if (mask & (1u << i)) access_cell(&sh.split[c->more + i], a, live);
}

/* ---- accesses as a part of the state: race_history.c ---- */

static void each_reader(const struct cell *c, mz_access_fn *f, void *data)
{
    if (c->reader == NOBODY_YET) return;
    if (!c->more) f(data, c->reader, c->read_epoch, MZ_PLAIN_READ, c->mask);
    for (uint32_t t = 0; c->more && t < rt.slots_known; t++)
        if (sh.readers[c->more][t]) f(data, (int)t, sh.readers[c->more][t], MZ_PLAIN_READ, c->mask);
}

static void each_access(const struct cell *c, uint8_t mask, mz_access_fn *f, void *data)
{
    if (c->execution != rt.execution || c->form == FREED) return;
    for (uint32_t i = 0; c->form == SPLIT && i < 4; i++)
        if (mask & (1u << i)) each_access(&sh.split[c->more + i], mask, f, data);
    if (c->form == SPLIT || !(c->mask & mask)) return;
    if (c->writer != NOBODY_YET) f(data, c->writer, c->write_epoch, MZ_PLAIN_WRITE, c->mask);
    each_reader(c, f, data);
}

static uint32_t place_of(const struct cell *c) { return (uint32_t)(c - sh.cells); }

uint32_t mz_shadow_place(uint64_t granule, bool *atomic)
{
    const struct cell *c = cell_of(granule * GRANULE);
    *atomic = c->atomic;
    return place_of(c);
}

void mz_shadow_each(uint64_t granule, mz_access_fn *f, void *data)
{
    each_access(cell_of(granule * GRANULE), 0xf, f, data);
}

struct counting {
    uint64_t granule;
    unsigned level;
    bool now;
};

static void count_access(void *data, int thread, uint32_t epoch, enum mz_race_kind kind, unsigned mask)
{
    const struct counting *n = data;
    mz_races_entry(n->level, thread, epoch, kind, n->granule, mask, n->now);
}

/* The accesses that the cell describes are part of the history as this level from now on. */
static void count_as(struct cell *c, uint64_t granule, unsigned level)
{
    struct counting before = {granule, c->counted, false}, after = {granule, level, true};
    if (c->execution != rt.execution) return;
    if (before.level) each_access(c, 0xf, count_access, &before);
    if (c->counted != level) mz_keep(c, sizeof *c);
    c->counted = (uint8_t)level;
    if (level) each_access(c, 0xf, count_access, &after);
}

struct conflict {
    const struct access *access;
    bool found;
};

static void look_for_conflict(void *data, int thread, uint32_t epoch, enum mz_race_kind kind, unsigned mask)
{
    struct conflict *n = data;
    (void)mask;
    if (kind == MZ_PLAIN_READ && !n->access->write) return;
    if (!mz_races_forked(rt.self, thread, epoch)) n->found = true;
}

static void remembered_access(struct cell *c, const struct access *a, uint8_t mask, bool live)
{
    uint64_t granule = a->address / GRANULE;
    uint32_t place = place_of(c);
    struct conflict conflict = {a, false};
    unsigned level = a->atomic ? mz_place_level(place) : mz_place_access(place, granule, a->write, false);
    if (level == MZ_PLACE_FORKED) each_access(c, mask, look_for_conflict, &conflict);
    if (conflict.found) level = mz_place_unforked(place);
    count_as(c, granule, MZ_PLACE_FREE);
    access_granule(c, a, mask, live);
    count_as(c, granule, level);
}

/* Nothing that was done to it matters any more. */
static void forget_accesses(struct cell *c, uint64_t address)
{
    count_as(c, address / GRANULE, MZ_PLACE_FREE);
    mz_races_forget(place_of(c), address / GRANULE);
}

static bool ends_life(uint8_t op) { return op == MZ_OP_DEALLOCATE || op == MZ_OP_FREE || op == MZ_OP_FINISH; }

/* What an event did to the memory of its object. Operations on synchronization objects count as a change of
 * their first bytes; of the operations on futexes only WAIT touches memory. */
static unsigned bytes_of(const struct mz_event *e, bool *writes)
{
    bool memory = e->op >= MZ_OP_LOAD && e->op <= MZ_OP_CAS && e->size;
    *writes = false;
    if (mz_is_futex(e->op, e->size)) return e->op == MZ_OP_WAIT ? e->size : 0;
    *writes = !memory || e->access == MZ_WRITES;
    return memory ? e->size : MZ_OBJECT_BYTES;
}

/* An access where atomic objects lie: is it ordered with all atomic accesses to the same bytes so far? */
static void check_atomics(const struct access *a)
{
    for (uint64_t key = a->address - 15; key != a->address + a->size; key++) {
        uint32_t o = mz_explore_known_object(rt.x, key);
        if (!o) continue;
        for (mz_number n = mz_explore_last_event(rt.x, o); n; n = rt.path->events[n - 1].prev_object) {
            const struct mz_event *e = &rt.path->events[n - 1];
            bool writes;
            unsigned size = bytes_of(e, &writes);
            if (e->thread == rt.self || !size || !(a->write || writes)) continue;
            if (e->key + size <= a->address || e->key >= a->address + a->size) continue;
            if (!ordered(e->thread, mz_sync_event_epoch(n - 1))) race(a, e->thread, e->op, e->pc);
        }
    }
}

/* What is on the thread's own stack is there, and undo.c keeps it. */
static inline bool is_own(const void *p)
{
    const struct mz_slot *s = &rt.slots[rt.self];
    return (const char *)p >= s->stack_low && (const char *)p < s->stack_high;
}

static __attribute__((noinline)) void slow_access(const struct access *a, struct cell *c, uint8_t mask)
{
    bool live = rt.path->live;
    if (mz_unlikely(rt.stateful))
        remembered_access(c, a, mask, live);
    else
        access_granule(c, a, mask, live);
    if (c->atomic && live && !a->atomic) check_atomics(a);
    if (mz_unlikely(!c->sound) && !a->atomic && !is_own((const void *)(uintptr_t)a->address))
        c->sound = mz_memory_check(a->address, a->size, a->op, a->pc) && mask == 0xf;
}

static inline void plain(uint64_t address, unsigned size, bool write, uint64_t pc)
{
    struct cell *c = cell_of(address);
    uint8_t mask = (uint8_t)(((1u << size) - 1) << address % GRANULE);
    uint32_t epoch = rt.run.threads[rt.self].epoch;
    /* Written before by this thread in this epoch, read by nobody since: nothing new. */
    if (mz_likely(c->execution == rt.execution && c->mask == mask && c->form == SIMPLE &&
                  c->writer == rt.self && c->write_epoch == epoch && c->reader == NOBODY_YET))
        return;
    /* Read before by this thread in this epoch, by no other. */
    if (!write && c->execution == rt.execution && c->mask == mask && c->form == SIMPLE &&
        c->reader == rt.self && c->read_epoch == epoch && !c->more)
        return;
    struct access a = {address, size, write, false, write ? MZ_OP_WRITE : MZ_OP_READ, pc};
    slow_access(&a, c, mask);
}

void mz_shadow_range(uint64_t address, size_t size, bool write, uint64_t pc)
{
    while (size) {
        unsigned part = (unsigned)(GRANULE - address % GRANULE);
        if (part > size) part = (unsigned)size;
        plain(address, part, write, pc);
        address += part;
        size -= part;
    }
}

/* ---- whole pages ---- */

/* The first access to any part of the page in this execution. */
static void begin_summary(struct page *p, struct summary *s, const struct access *a)
{
    struct page *cached = &sh.cache[p->page % CACHE];
    clear_cell(&s->all, 0xf);
    if (a->write) {
        s->all.writer = rt.self;
        s->all.write_epoch = rt.run.threads[rt.self].epoch;
        s->all.write_pc = (uint32_t)a->pc;
    } else {
        s->all.reader = rt.self;
        s->all.read_epoch = rt.run.threads[rt.self].epoch;
        s->all.read_pc = (uint32_t)a->pc;
    }
    if (cached->page == p->page) cached->page = ~0ull;
}

/* An access to all of a page. False: the granules must be looked at one by one. */
static bool access_page(uint64_t address, bool write, uint64_t pc)
{
    if (rt.stateful || rt.allow_races) return false;
    struct page *p = known_page(address / PAGE);
    struct summary *s = summary_of(p->cells);
    struct access a = {address, GRANULE, write, false, write ? MZ_OP_WRITE : MZ_OP_READ, pc};
    if (s->atomic || !mz_memory_is_whole_page(address)) return false;
    if (!is_whole(s)) {
        if (s->used == rt.execution) return false;
        begin_summary(p, s, &a);
        return true;
    }
    if (s->all.form == FREED) return false;
    if (!write && s->all.reader != NOBODY_YET && s->all.reader != rt.self) return false; /* W2 */
    access_cell(&s->all, &a, rt.path->live);
    return true;
}

/* All of a page that is a part of a block is freed. False as above. */
static bool free_page(uint64_t address, uint8_t op, uint64_t pc)
{
    struct page *p = entry_of(address / PAGE);
    if (!p->cells || rt.stateful || rt.allow_races) return false;
    struct summary *s = summary_of(p->cells);
    struct access a = {address, GRANULE, true, false, op, pc};
    if (s->atomic || !is_whole(s) || s->all.form == FREED) return false;
    access_cell(&s->all, &a, rt.path->live);
    if (!ends_life(op)) return true;
    mz_keep(&s->all, sizeof s->all);
    s->all.form = FREED;
    s->all.more = 0;
    return true;
}

/* A new atomic access that has just been committed: is it ordered with the plain ones before? */
void mz_shadow_atomic(uint64_t address, unsigned size, enum mz_access access)
{
    for (uint64_t at = address; at < address + size; at = at / GRANULE * GRANULE + GRANULE) {
        unsigned part = (unsigned)(GRANULE - at % GRANULE);
        if (part > address + size - at) part = (unsigned)(address + size - at);
        struct cell *c = cell_of(at);
        c->atomic = 1;
        summary_of(c)->atomic = 1;
        if (mz_unlikely(rt.stateful)) mz_place_access(place_of(c), at / GRANULE, access == MZ_WRITES, true);
        if (c->execution != rt.execution) continue;
        const struct mz_pending *p = &rt.view.pending[rt.self];
        struct access a = {at, part, access == MZ_WRITES, true, p->op, p->pc};
        slow_access(&a, c, (uint8_t)(((1u << part) - 1) << at % GRANULE));
    }
}

/* The hooks of the compilers for plain accesses: called just before the access. */
#define HOOKS(n)                                                                                             \
    MZ_EXPORT void __tsan_read##n(void *p);                                                                  \
    MZ_EXPORT void __tsan_write##n(void *p);                                                                 \
    MZ_EXPORT void __tsan_unaligned_read##n(void *p);                                                        \
    MZ_EXPORT void __tsan_unaligned_write##n(void *p);                                                       \
    MZ_EXPORT void __tsan_volatile_read##n(void *p);                                                         \
    MZ_EXPORT void __tsan_volatile_write##n(void *p);                                                        \
    MZ_EXPORT void __tsan_unaligned_volatile_read##n(void *p);                                               \
    MZ_EXPORT void __tsan_unaligned_volatile_write##n(void *p);                                              \
    MZ_EXPORT void __tsan_read_write##n(void *p);                                                            \
    MZ_EXPORT void __tsan_unaligned_read_write##n(void *p);                                                  \
    void __tsan_read##n(void *p) { hook_aligned(p, n, false, MZ_PC(), MZ_FRAME()); }                         \
    void __tsan_write##n(void *p) { hook_aligned(p, n, true, MZ_PC(), MZ_FRAME()); }                         \
    void __tsan_unaligned_read##n(void *p) { hook(p, n, false, MZ_PC(), MZ_FRAME()); }                       \
    void __tsan_unaligned_write##n(void *p) { hook(p, n, true, MZ_PC(), MZ_FRAME()); }                       \
    void __tsan_volatile_read##n(void *p) { hook_volatile(p, n, false, MZ_PC(), MZ_FRAME()); }               \
    void __tsan_volatile_write##n(void *p) { hook_volatile(p, n, true, MZ_PC(), MZ_FRAME()); }               \
    void __tsan_unaligned_volatile_read##n(void *p) { hook_volatile(p, n, false, MZ_PC(), MZ_FRAME()); }     \
    void __tsan_unaligned_volatile_write##n(void *p) { hook_volatile(p, n, true, MZ_PC(), MZ_FRAME()); }     \
    void __tsan_read_write##n(void *p) { hook_both(p, n, MZ_PC(), MZ_FRAME()); }                             \
    void __tsan_unaligned_read_write##n(void *p) { hook_both(p, n, MZ_PC(), MZ_FRAME()); }

/* Replaying a data race: keep both accesses, with their call stacks. */
static __attribute__((noinline)) void record_access(uint64_t address, size_t size, bool write,
                                                    const void *frame)
{
    const struct mz_options_block *o = &rt.channel->options;
    if (!o->race_size || address >= o->race_address + o->race_size || o->race_address >= address + size)
        return;
    uint32_t flags = MZ_RECORD_RACING;
    uint64_t value = 0;
    if (!write && size <= 8) { /* a write has not happened yet: finding.c looks what it left */
        flags |= MZ_RECORD_HAS_VALUE;
        mz_raw_memcpy(&value, (const void *)(uintptr_t)address, size);
    }
    mz_record(write ? MZ_OP_WRITE : MZ_OP_READ, address, (unsigned)size, flags, value, 0, 0, frame);
}

/* What is on the thread's own stack is part of its local state, but for what other threads use (lent.c). */
static inline void count_change(const void *p, size_t size)
{
    const struct mz_slot *s = &rt.slots[rt.self];
    if (mz_likely((const char *)p >= s->stack_low && (const char *)p < s->private_high)) return;
    if (mz_unlikely((const char *)p >= s->private_high && (const char *)p < s->stack_high) &&
        !mz_lent_contains(p, size))
        return;
    mz_changed();
}

/* After the checks: there is memory. */
static inline void keep(const void *p, size_t size, bool write)
{
    if (mz_unlikely(rt.undo) && write && !is_own(p)) mz_keep_program(p, size);
}

/* The kernel gives a new page of the heap once: if it were read first, there would be a second fault for the write. */
static inline void touch(uint64_t address, bool write)
{
    volatile char *p = (volatile char *)(uintptr_t)address;
    if (write && mz_heap_is_whole_page(address & ~(uint64_t)(PAGE - 1)))
        __atomic_fetch_or(p, 0, __ATOMIC_RELAXED); /* a write */
    else
        (void)*p;
}

/* Page by page, each looked at first: a wild range crashes here as it would in the program, where its memory
 * ends, and gets no terabytes of cells. */
static __attribute__((noinline)) void long_range(uint64_t address, size_t size, bool write, uint64_t pc)
{
    while (size) {
        size_t part = PAGE - address % PAGE;
        if (part > size) part = size;
        touch(address, write);
        if (part < PAGE || !access_page(address, write, pc)) mz_shadow_range(address, part, write, pc);
        keep((const void *)(uintptr_t)address, part, write);
        address += part;
        size -= part;
    }
}

/* Once the access has been checked: a loop that only reads gives way to nobody (spin.c). */
static inline void count_hook(const void *p, bool write, const void *pc, const void *frame)
{
    if (write)
        rt.hooks++;
    else if (mz_unlikely(--rt.reads_left == 0))
        mz_spin_reads(p, pc, frame);
}

static inline void hook(void *p, size_t size, bool write, void *pc, const void *frame)
{
    if (mz_unlikely(!rt.active)) return;
    if (write) count_change(p, size);
    if (mz_unlikely(rt.allow_races) && mz_visible_access(p, size, write, false, pc, frame)) {
        rt.hooks++;
        return;
    }
    if (mz_unlikely(rt.recording)) record_access((uintptr_t)p, size, write, frame);
    if (mz_unlikely(size > PAGE)) {
        long_range((uintptr_t)p, size, write, (uintptr_t)pc);
    } else {
        mz_shadow_range((uintptr_t)p, size, write, (uintptr_t)pc);
        keep(p, size, write);
    }
    count_hook(p, write, pc, frame);
}

void mz_access_range(const void *p, size_t size, bool write, void *pc, const void *frame)
{
    hook((void *)(uintptr_t)p, size, write, pc, frame);
}

/* The cell of a granule, if it may have been accessed in this execution. Otherwise NULL, and *at goes on to
 * the last granule of the page if all of it never was. */
static struct cell *used_cell(uint64_t *at)
{
    uint64_t page = *at / PAGE;
    const struct page *p = entry_of(page);
    struct summary *s = p->cells ? summary_of(p->cells) : NULL;
    if (!s || (s->used != rt.execution && !s->atomic && !is_whole(s))) {
        *at = (page + 1) * PAGE - GRANULE;
        return NULL;
    }
    if (is_whole(s)) spread(p, s);
    struct cell *c = &p->cells[*at % PAGE / GRANULE];
    return c->execution == rt.execution || c->atomic ? c : NULL;
}

/* A block is given back, or a thread ends: as if all of it were written, where it was accessed. */
void mz_shadow_freed(uint64_t address, size_t size, uint8_t op, uint64_t pc)
{
    if (mz_unlikely(rt.allow_races))
        mz_visible_access((void *)(uintptr_t)address, size, true, false, (void *)(uintptr_t)pc, NULL);
    for (uint64_t at = address; at < address + size; at += GRANULE) {
        if (at % PAGE == 0 && address + size - at >= PAGE && free_page(at, op, pc)) {
            at += PAGE - GRANULE;
            continue;
        }
        struct cell *c = used_cell(&at);
        if (!c || (mz_unlikely(rt.allow_races) && mz_visible_any((void *)(uintptr_t)at, 1))) continue;
        unsigned part = address + size - at < GRANULE ? (unsigned)(address + size - at) : GRANULE;
        struct access a = {at, part, true, false, op, pc};
        slow_access(&a, c, (uint8_t)((1u << part) - 1));
        if (!ends_life(op)) continue; /* unmapped: something else may come to lie here */
        if (mz_unlikely(rt.stateful)) forget_accesses(c, at);
        mz_keep(c, sizeof *c);
        c->form = FREED;
        c->more = 0;
    }
}

/* Freed memory that is handed out again: what was done to it before is over (--heap=reuse). */
void mz_shadow_forget(uint64_t address, size_t size)
{
    for (uint64_t at = address; at < address + size; at += GRANULE) {
        struct cell *c = used_cell(&at);
        if (!c) continue;
        if (mz_unlikely(rt.stateful)) forget_accesses(c, at);
        mz_keep(c, sizeof *c);
        c->execution = 0;
    }
}

static inline void hook_aligned(void *p, size_t size, bool write, void *pc, const void *frame)
{
    if (size > GRANULE || mz_unlikely(!rt.active || rt.recording || rt.allow_races)) {
        hook(p, size, write, pc, frame);
        return;
    }
    if (write) count_change(p, size);
    if (mz_unlikely((uintptr_t)p % GRANULE + size > GRANULE))
        mz_shadow_range((uintptr_t)p, size, write, (uintptr_t)pc);
    else
        plain((uintptr_t)p, (unsigned)size, write, (uintptr_t)pc);
    keep(p, size, write);
    count_hook(p, write, pc, frame);
}

/* With --data-races=allow these are always operations. */
static inline void hook_volatile(void *p, size_t size, bool write, void *pc, const void *frame)
{
    if (mz_unlikely(rt.signals_used) && rt.active) mz_signal_point_volatile(pc, frame, write);
    if (mz_likely(!rt.allow_races || !rt.active)) {
        hook(p, size, write, pc, frame);
        return;
    }
    rt.hooks++;
    if (write) count_change(p, size);
    mz_visible_access(p, size, write, true, pc, frame);
}

static inline void hook_both(void *p, size_t size, void *pc, const void *frame)
{
    if (mz_unlikely(rt.allow_races) && rt.active && mz_visible_access(p, size, true, false, pc, frame)) {
        count_change(p, size);
        return;
    }
    hook(p, size, false, pc, frame);
    hook(p, size, true, pc, frame);
}

HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

MZ_EXPORT void __tsan_read_range(void *p, size_t size);
MZ_EXPORT void __tsan_write_range(void *p, size_t size);
void __tsan_read_range(void *p, size_t size) { hook(p, size, false, MZ_PC(), MZ_FRAME()); }
void __tsan_write_range(void *p, size_t size) { hook(p, size, true, MZ_PC(), MZ_FRAME()); }

MZ_EXPORT void __tsan_vptr_update(void **p, void *value);
MZ_EXPORT void __tsan_vptr_read(void **p);
void __tsan_vptr_update(void **p, void *value)
{
    if (*p != value) hook(p, sizeof *p, true, MZ_PC(), MZ_FRAME());
}
void __tsan_vptr_read(void **p) { hook(p, sizeof *p, false, MZ_PC(), MZ_FRAME()); }

MZ_EXPORT void __tsan_func_entry(void *caller);
MZ_EXPORT void __tsan_func_exit(void);
MZ_EXPORT void __tsan_ignore_thread_begin(void);
MZ_EXPORT void __tsan_ignore_thread_end(void);
void __tsan_func_entry(void *caller) { (void)caller; }
void __tsan_func_exit(void) {}
void __tsan_ignore_thread_begin(void) {}
void __tsan_ignore_thread_end(void) {}
