/* Is there an object where the program reads or writes? This check finds use after free, accesses out of
 * bounds, and uses of a thread's stack after its end.
 *
 * Callers: the slow path of an access (shadow_check.c), atomic operations, and operations on mutexes and the
 * like when they happen. The fast path of an access needs no check: it is only taken if the same thread
 * accessed the same bytes before, and everything that ends the life of memory marks the cells.
 *
 * The end of memory (free, the end of a thread) is not an event, so the search does not explore its order
 * with the operations of other threads. That is not necessary: like a write, it is a data race with every
 * access that is not ordered with it. For stacks and thread-local storage, only the part that other threads
 * have used is checked. */
#include "runtime/core/operation.h"
#include "runtime/loops/loops.h"
#include "runtime/memory/heap.h"
#include "runtime/memory/memory.h"
#include "runtime/memory/room.h"
#include "runtime/rewind/rewind.h"

#define PAGE 4096u

#define bo mz_memory_room.bounds

/* Extends the range of a thread's own memory that other threads have used in this execution. */
static void note_lent(struct mz_lent_range *l, uint64_t address, size_t size)
{
    uint64_t low = address & ~7ull, high = (address + size + 7) & ~7ull;
    if (l->execution == rt.execution && low >= l->low && high <= l->high) return;
    mz_keep(l, sizeof *l);
    if (l->execution != rt.execution) *l = (struct mz_lent_range){rt.execution, low, high};
    if (low < l->low) l->low = low;
    if (high > l->high) l->high = high;
}

static void end_lent(const struct mz_lent_range *l)
{
    if (l->execution != rt.execution) return;
    uint64_t start = (uintptr_t)rt.run.threads[rt.self].start;
    mz_shadow_freed(l->low, l->high - l->low, MZ_OP_FINISH, start + 1);
}

/* The running thread is about to end: check the parts of its memory that other threads have used for data
 * races. */
void mz_memory_thread_ends(void)
{
    end_lent(&bo.lent_stack[rt.self]);
    end_lent(&bo.lent_tls[rt.self]);
}

static bool has_ended(int slot) { return rt.run.threads[slot].state == MZ_THREAD_FINISHED; }

/* ---- findings ---- */

static void name_object(struct mz_finding *f, enum mz_area_kind area, uint64_t start, uint64_t size)
{
    f->area = (uint8_t)area;
    f->object_start = start;
    f->object_size = size;
}

static void name_block(struct mz_finding *f, uint64_t address)
{
    const struct mz_block *b = mz_heap_nearest(address);
    if (!b) return;
    const struct mz_block_history *h = mz_history_of(b);
    name_object(f, MZ_AREA_HEAP, (uintptr_t)(b + 1), b->size);
    if (h) f->block = b->history;
}

/* Adds to a finding the heap block that it is about. */
void mz_memory_describe(struct mz_finding *f)
{
    if (mz_heap_contains(f->address)) name_block(f, f->address);
}

struct access {
    uint64_t address, pc;
    size_t size;
    uint8_t op;
};

static struct mz_finding *found(enum mz_kind kind, const char *text, const struct access *a)
{
    struct mz_finding *f = mz_finding_begin(kind, text);
    f->address = a->address;
    f->size = (uint32_t)a->size;
    f->op = a->op;
    return f;
}

static _Noreturn void bad_heap(enum mz_place_state state, const struct access *a)
{
    bool freed = state == MZ_PLACE_FREED;
    struct mz_finding *f = found(freed ? MZ_KIND_USE_AFTER_FREE : MZ_KIND_OUT_OF_BOUNDS,
                                 freed ? "a block that has been freed" : "outside of every block", a);
    name_block(f, a->address);
    mz_finding_end(f, a->pc, MZ_FRAME());
}

static _Noreturn void bad_owner(enum mz_area_kind area, int owner, const struct access *a)
{
    char text[MZ_TEXT], *end = text + sizeof text, *t = text;
    t = mz_text_add(t, end, area == MZ_AREA_STACK ? "stack of thread " : "thread-local storage of thread ");
    t = mz_text_add(t, end, rt.channel->threads[owner].name);
    mz_text_add(t, end, ", which has ended");
    struct mz_finding *f = found(MZ_KIND_USE_AFTER_FREE, text, a);
    name_object(f, area, 0, 0);
    f->other_thread = (uint8_t)owner;
    mz_finding_end(f, a->pc, MZ_FRAME());
}

static _Noreturn void bad_global(const struct mz_gap *gap, const struct access *a)
{
    struct mz_finding *f = found(MZ_KIND_OUT_OF_BOUNDS, "where no global variable is", a);
    bool after = gap->before_size && (!gap->after || a->address - gap->start < gap->after - a->address);
    if (after)
        name_object(f, MZ_AREA_GLOBAL, gap->before, gap->before_size);
    else
        name_object(f, MZ_AREA_GLOBAL, gap->after, gap->after_size);
    mz_finding_end(f, a->pc, MZ_FRAME());
}

static _Noreturn void bad_own(const struct access *a)
{
    mz_finding_end(found(MZ_KIND_OUT_OF_BOUNDS, "memory that is not the program's but mazurka's", a), a->pc,
                   MZ_FRAME());
}

/* ---- checking ---- */

/* Nothing is known about this memory: does it exist? The compiler may have removed an access whose value is
 * not used, but not its hook. So the access is made here: it crashes as in the program without
 * optimization. */
static void try_to_read(uint64_t address, size_t size)
{
    (void)*(const volatile char *)(uintptr_t)address;
    (void)*(const volatile char *)(uintptr_t)(address + size - 1);
}

/* Reports a finding if there is no object at these bytes, which lie within 16 aligned bytes. Returns true if
 * later checks of these bytes can never find anything. */
static bool check(const struct access *a)
{
    enum mz_place_state state = mz_heap_state(a->address, a->size);
    if (mz_likely(state == MZ_PLACE_LIVE)) return false;
    if (state != MZ_PLACE_ELSEWHERE) bad_heap(state, a);
    int owner = mz_fiber_stack_owner(a->address);
    if (owner >= 0) {
        /* Before anything is reported: if the accesses of the owner were left out, the search starts over. */
        if (owner != rt.self) mz_lent_note(owner, a->address, a->size);
        if (mz_unlikely(has_ended(owner))) bad_owner(MZ_AREA_STACK, owner, a);
        if (owner != rt.self) note_lent(&bo.lent_stack[owner], a->address, a->size);
        return false;
    }
    if ((owner = mz_fiber_tls_owner(a->address)) >= 0) {
        if (mz_unlikely(has_ended(owner))) bad_owner(MZ_AREA_TLS, owner, a);
        if (owner != rt.self) note_lent(&bo.lent_tls[owner], a->address, a->size);
        return false;
    }
    const struct mz_gap *gap = mz_globals_gap(a->address, a->size);
    if (mz_unlikely(gap != NULL)) bad_global(gap, a);
    if (mz_unlikely(mz_own_contains(a->address))) bad_own(a);
    try_to_read(a->address, a->size);
    return true;
}

bool mz_memory_check(uint64_t address, unsigned size, uint8_t op, uint64_t pc)
{
    return check(&(struct access){.address = address, .size = size, .op = op, .pc = pc});
}

/* Is the page part of one large block, or of global variables without a gap? Then there is nothing to
 * check. */
bool mz_memory_is_whole_page(uint64_t page)
{
    if (mz_heap_contains(page)) return mz_heap_is_whole_page(page);
    if (mz_fiber_stack_owner(page) >= 0 || (page < rt.tls_high && page + PAGE > rt.tls_low)) return false;
    return !mz_globals_gap(page, PAGE) && !mz_own_contains(page) && !mz_own_contains(page + PAGE - 1);
}

/* Does check() accept the access? Reports nothing. */
static bool is_sound(const struct access *a)
{
    enum mz_place_state state = mz_heap_state(a->address, a->size);
    if (state != MZ_PLACE_ELSEWHERE) return state == MZ_PLACE_LIVE;
    int owner = mz_fiber_stack_owner(a->address);
    if (owner < 0) owner = mz_fiber_tls_owner(a->address);
    return (owner < 0 || !has_ended(owner)) && !mz_globals_gap(a->address, a->size) &&
           !mz_own_contains(a->address);
}

/* The atomic operation of the running thread is about to happen. If there is no object, the operation still
 * counts as an event, so that the other order is explored, but it accesses nothing. */
void mz_memory_check_atomic(const volatile void *p, unsigned size)
{
    /* Global variables stay where they are, so the result of a check is remembered. */
    const struct mz_pending *pending = &rt.view.pending[rt.self];
    struct access a = {(uintptr_t)p, pending->pc, size, pending->op};
    uint64_t key = a.address * 32 + size, *slot = &bo.known[a.address / 4 % MZ_KNOWN_ATOMICS];
    if (mz_likely(*slot == key) || mz_heap_state(a.address, size) == MZ_PLACE_LIVE) return;
    if (mz_unlikely(!is_sound(&a))) mz_commit((enum mz_access)mz_ops[pending->op].access, 0);
    if (check(&a)) *slot = key;
}

/* An operation on a mutex or the like has just happened for the first time. Unlike other accesses, a finding
 * here does not end the thread with --keep-going: when the operation is replayed, this function is not
 * called. */
void mz_memory_check_event(void)
{
    const struct mz_pending *p = &rt.view.pending[rt.self];
    struct access a = {p->key, p->pc, 1, p->op};
    if (p->op == MZ_OP_NONE || mz_op_in(MZ_OPS_ATOMIC, p->op) || !p->key || mz_is_futex(p->op, p->size))
        return;
    int owner = mz_fiber_stack_owner(a.address);
    if (owner < 0 && mz_heap_state(a.address, 1) == MZ_PLACE_ELSEWHERE) return;
    if (owner >= 0) mz_lent_note(owner, a.address, rt.up.object_size(p->op));
    if (mz_unlikely(rt.channel->options.keep_going && !is_sound(&a)))
        mz_finding_keep(mz_heap_state(a.address, 1) == MZ_PLACE_OUTSIDE ? MZ_KIND_OUT_OF_BOUNDS
                                                                        : MZ_KIND_USE_AFTER_FREE,
                        "a mutex or the like, in memory that is gone", a.address, a.pc);
    else
        check(&a);
}
