/* Is there an object where the program reads or writes? The one question behind use after free, out of bounds
 * and the use of a thread's stack after its end.
 *
 * Asked by the slow way of an access (shadow.c), by atomics, and for mutexes and the like when an operation
 * on them happens. The quick way of an access need not ask: it is only taken where the same thread accessed
 * the same bytes before, and what ends the life of memory in between marks the cells.
 *
 * What ends the life of memory (free, the end of a thread) is not an event, so its order with what others do
 * is not explored. It need not be: like a write, it is a data race with every access that it is not ordered
 * with. For stacks and thread-local storage only the part that other threads have used is looked at. */
#include "heap.h"

#include <pthread.h>
#include <semaphore.h>
#include "own.h"

#define PAGE 4096u

static uint64_t tls_low, tls_high; /* around the thread-local storage of all threads */

void mz_memory_init(void)
{
    tls_low = ~0ull;
    for (int s = 0; s < MZ_SLOTS; s++) {
        if (rt.slots[s].fs - rt.tls_size < tls_low) tls_low = rt.slots[s].fs - rt.tls_size;
        if (rt.slots[s].fs > tls_high) tls_high = rt.slots[s].fs;
    }
}

/* What other threads have used of a thread's own memory in this execution. */
static struct lent {
    uint32_t execution;
    uint64_t low, high;
} lent_stack[MZ_SLOTS], lent_tls[MZ_SLOTS];

static void note_lent(struct lent *l, uint64_t address, size_t size)
{
    uint64_t low = address & ~7ull, high = (address + size + 7) & ~7ull;
    if (l->execution == rt.execution && low >= l->low && high <= l->high) return;
    mz_keep(l, sizeof *l);
    if (l->execution != rt.execution) *l = (struct lent){rt.execution, low, high};
    if (low < l->low) l->low = low;
    if (high > l->high) l->high = high;
}

static void end_lent(const struct lent *l)
{
    if (l->execution != rt.execution) return;
    uint64_t start = (uintptr_t)rt.run.threads[rt.self].start;
    mz_shadow_freed(l->low, l->high - l->low, MZ_OP_FINISH, start + 1);
}

/* The running thread is about to end. */
void mz_memory_thread_ends(void)
{
    end_lent(&lent_stack[rt.self]);
    end_lent(&lent_tls[rt.self]);
}

static bool has_ended(int slot) { return rt.run.threads[slot].state == MZ_THREAD_FINISHED; }

int mz_memory_tls_owner(uint64_t address)
{
    if (address < tls_low || address >= tls_high) return -1;
    for (int s = 0; s < MZ_SLOTS; s++)
        if (address < rt.slots[s].fs && address >= rt.slots[s].fs - rt.tls_size) return s;
    return -1;
}

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

/* Adds to a finding which block of the heap it is about. */
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

/* Memory of which nothing is known: is there any? The compiler may have left out an access whose value is not
 * used, but not its hook. So the access is tried here: it crashes as the program does without optimization. */
static void try_to_read(uint64_t address, size_t size)
{
    (void)*(const volatile char *)(uintptr_t)address;
    (void)*(const volatile char *)(uintptr_t)(address + size - 1);
}

/* size: within 16 aligned bytes. Returns whether the answer is the same for ever. */
static bool check(const struct access *a)
{
    enum mz_place_state state = mz_heap_state(a->address, a->size);
    if (mz_likely(state == MZ_PLACE_LIVE)) return false;
    if (state != MZ_PLACE_ELSEWHERE) bad_heap(state, a);
    int owner = mz_fiber_stack_owner(a->address);
    if (owner >= 0) {
        if (mz_unlikely(has_ended(owner))) bad_owner(MZ_AREA_STACK, owner, a);
        if (owner != rt.self) {
            note_lent(&lent_stack[owner], a->address, a->size);
            mz_lent_note(owner, a->address, a->size);
        }
        return false;
    }
    if ((owner = mz_memory_tls_owner(a->address)) >= 0) {
        if (mz_unlikely(has_ended(owner))) bad_owner(MZ_AREA_TLS, owner, a);
        if (owner != rt.self) note_lent(&lent_tls[owner], a->address, a->size);
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

/* Is all of the page part of one large block, or of global variables without a gap? Then there is nothing to check. */
bool mz_memory_is_whole_page(uint64_t page)
{
    if (mz_heap_contains(page)) return mz_heap_is_whole_page(page);
    if (mz_fiber_stack_owner(page) >= 0 || (page < tls_high && page + PAGE > tls_low)) return false;
    return !mz_globals_gap(page, PAGE) && !mz_own_contains(page) && !mz_own_contains(page + PAGE - 1);
}

/* Would check() find something? */
static bool is_sound(const struct access *a)
{
    enum mz_place_state state = mz_heap_state(a->address, a->size);
    if (state != MZ_PLACE_ELSEWHERE) return state == MZ_PLACE_LIVE;
    int owner = mz_fiber_stack_owner(a->address);
    if (owner < 0) owner = mz_memory_tls_owner(a->address);
    return (owner < 0 || !has_ended(owner)) && !mz_globals_gap(a->address, a->size) &&
           !mz_own_contains(a->address);
}

/* An atomic operation whose turn it is. If there is no object it counts as an event all the same, so that the
 * other order is explored, but touches nothing. */
void mz_memory_check_atomic(const volatile void *p, unsigned size)
{
    /* Global variables stay where they are: what was found of one is remembered. */
    static uint64_t known[256];
    const struct mz_pending *pending = &rt.view.pending[rt.self];
    struct access a = {(uintptr_t)p, pending->pc, size, pending->op};
    uint64_t key = a.address * 32 + size, *slot = &known[a.address / 4 % 256];
    if (mz_likely(*slot == key) || mz_heap_state(a.address, size) == MZ_PLACE_LIVE) return;
    if (mz_unlikely(!is_sound(&a)))
        mz_commit(pending->op == MZ_OP_LOAD || pending->op == MZ_OP_WAIT ? MZ_READS : MZ_WRITES, 0);
    if (check(&a)) *slot = key;
}

/* Of the synchronization object that the operation is on. */
static size_t object_size(uint8_t op)
{
    switch (op) {
    case MZ_OP_WAIT:
    case MZ_OP_SIGNAL:
    case MZ_OP_BROADCAST:
    case MZ_OP_TIMEOUT:
        return sizeof(pthread_cond_t);
    case MZ_OP_RDLOCK:
    case MZ_OP_WRLOCK:
    case MZ_OP_TRYRDLOCK:
    case MZ_OP_TRYWRLOCK:
    case MZ_OP_RWUNLOCK:
    case MZ_OP_RWCLAIM:
        return sizeof(pthread_rwlock_t);
    case MZ_OP_SEM_WAIT:
    case MZ_OP_SEM_POST:
    case MZ_OP_SEM_TRY:
        return sizeof(sem_t);
    case MZ_OP_ARRIVE:
        return sizeof(pthread_barrier_t);
    case MZ_OP_ONCE:
        return sizeof(pthread_once_t);
    default: /* at least so much, where it may be one or the other */
        return rt.spin_locks_used ? sizeof(pthread_spinlock_t) : sizeof(pthread_mutex_t);
    }
}

/* The operation on a mutex or the like that has just happened, for the first time. Unlike other accesses it
 * does not end its thread if the search goes on: when it is repeated, nobody asks. */
void mz_memory_check_event(void)
{
    const struct mz_pending *p = &rt.view.pending[rt.self];
    struct access a = {p->key, p->pc, 1, p->op};
    if (p->op <= MZ_OP_CAS || !p->key || mz_is_futex(p->op, p->size)) return;
    int owner = mz_fiber_stack_owner(a.address);
    if (owner < 0 && mz_heap_state(a.address, 1) == MZ_PLACE_ELSEWHERE) return;
    if (owner >= 0) mz_lent_note(owner, a.address, object_size(p->op));
    if (mz_unlikely(rt.channel->options.keep_going && !is_sound(&a)))
        mz_finding_keep(mz_heap_state(a.address, 1) == MZ_PLACE_OUTSIDE ? MZ_KIND_OUT_OF_BOUNDS
                                                                        : MZ_KIND_USE_AFTER_FREE,
                        "a mutex or the like, in memory that is gone", a.address, a.pc);
    else
        check(&a);
}
