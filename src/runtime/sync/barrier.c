/* Barriers, in the program's own pthread_barrier_t.
 *
 * Arriving is a visible operation. As long as no more threads use a barrier than it waits for, the order in
 * which they arrive makes no difference, and arrivals commute. When more threads use the barrier than it
 * waits for, the order decides which threads meet. Then the search starts over, and arrivals on that barrier
 * conflict with each other. (The search finds the first execution with such a thread: until then, no arrivals
 * were in conflict.)
 *
 * POSIX leaves open which thread gets PTHREAD_BARRIER_SERIAL_THREAD, so this is a choice. When the last
 * thread has arrived, the waiting thread with the lowest number (the leader) runs on within that step, and posts
 * the choice. When it has chosen, all of them continue within that step. Threads whose code does not look at the
 * result (result_matters) count as one choice. So there is nothing to explore if no thread looks at it. */
#define _GNU_SOURCE
#include "event/packet.h"
#include "runtime/core/operation.h"
#include "runtime/core/runtime.h"
#include "runtime/loops/loops.h"
#include "runtime/memory/memory.h"
#include "runtime/rewind/rewind.h"
#include "runtime/state/decode.h"
#include "runtime/sync/room.h"
#include "runtime/sync/sync.h"

#include <errno.h>
#include <pthread.h>

#define INITIALISED 0x6d7a6261u
#define LEADS       2 /* mz_thread.serial: it is the leader, and all have arrived */

struct mz_barrier {
    uint32_t count; /* how many threads have to arrive */
    uint32_t mark;
    uint64_t arrived;
    uint64_t users; /* all threads that ever arrived */
};
_Static_assert(sizeof(struct mz_barrier) <= sizeof(pthread_barrier_t), "a barrier must fit");

static struct mz_barrier *of(pthread_barrier_t *b) { return (struct mz_barrier *)(void *)b; }

/* Kept for the whole search: barriers that more threads use than they wait for. */
#define ba mz_sync_room.barrier

static bool is_contended(const void *b)
{
    for (unsigned i = 0; i < ba.contended_count; i++)
        if (ba.contended[i] == b) return true;
    return false;
}

static void set_contended(const void *b)
{
    if (is_contended(b)) return;
    if (ba.contended_count == MZ_CONTENDED_BARRIERS)
        mz_unsupported("more than 64 barriers that more threads use than they wait for",
                       "use fewer barriers");
    ba.contended[ba.contended_count++] = b;
    mz_explore_restart(rt.x);
}

void mz_barriers_put(struct mz_message *m)
{
    mz_put(m, ba.contended_count);
    for (unsigned i = 0; i < ba.contended_count; i++)
        mz_put_long(m, mz_layout_out((uintptr_t)ba.contended[i]));
}

void mz_barriers_get(struct mz_message *m)
{
    uint32_t n = mz_get_count(m, 8);
    MZ_ASSERT(n <= MZ_CONTENDED_BARRIERS);
    for (ba.contended_count = 0; ba.contended_count < n; ba.contended_count++)
        ba.contended[ba.contended_count] = (const void *)(uintptr_t)mz_layout_in(mz_get_long(m));
}

static void check(const struct mz_barrier *b)
{
    if (mz_likely(b->mark == INITIALISED)) return;
    if (b->mark == MZ_DESTROYED) mz_misuse("use of a barrier that was destroyed", b);
    mz_misuse("use of a barrier that was never initialised", b);
}

static void arrive(struct mz_barrier *b, const void *pc, const void *frame)
{
    enum mz_access access = is_contended(b) ? MZ_WRITES : MZ_READS;
    mz_rounds_look((uintptr_t)b, pc, frame);
    mz_visible(MZ_OP_ARRIVE, (uintptr_t)b, 0, (uint8_t)access, 0, pc);
    mz_commit_use(access, 0);
    MZ_RECORD(MZ_OP_ARRIVE, (uintptr_t)b, 0, 0, 0, 0, 0, frame);
    rt.run.threads[rt.self].woken_by = rt.path->depth;
    mz_sync_release_part(mz_last_object());
    mz_keep_program(b, sizeof *b);
    b->arrived |= mz_slot_bit(rt.self);
    mz_changed();
    b->users |= mz_slot_bit(rt.self);
    if ((unsigned)__builtin_popcountll(b->users) > b->count) set_contended(b);
}

/* All threads have arrived: everything before an arrival happens before everything after the meeting. */
static void meet(const struct mz_barrier *b)
{
    uint32_t events[MZ_SLOTS], n = 0, object = mz_last_object();
    for (uint64_t t = b->arrived; t; t &= t - 1) events[n++] = rt.run.threads[__builtin_ctzll(t)].woken_by;
    for (uint64_t t = b->arrived; t; t &= t - 1) {
        mz_sync_acquire_all(__builtin_ctzll(t), object);
        for (uint32_t i = 0; i < n; i++) mz_explore_wake(rt.x, events[i], __builtin_ctzll(t));
    }
}

static void post(struct mz_barrier *b, uint8_t op, uint64_t choices, const void *pc)
{
    rt.view.pending[rt.self] =
        (struct mz_pending){.key = 0, .choices = choices, .op = op, .access = MZ_WRITES, .pc = (uintptr_t)pc};
    rt.run.threads[rt.self].state = op == MZ_OP_CHOOSE ? MZ_THREAD_RUNNABLE : MZ_THREAD_BARRIER;
    rt.run.threads[rt.self].wait_object = (uintptr_t)b;
    mz_enable(mz_slot_bit(rt.self), op == MZ_OP_CHOOSE);
}

/* The running thread was the last one to arrive. If it is not the leader, let the leader run on within this step. */
static void let_leader_go(struct mz_barrier *b)
{
    int leader = __builtin_ctzll(b->arrived);
    meet(b);
    mz_undo_thread(leader);
    rt.run.threads[leader].serial = LEADS;
    if (leader == rt.self) return;
    rt.run.threads[leader].state = MZ_THREAD_RUNNABLE;
    rt.run.interrupted[rt.run.interrupted_count++] = (uint8_t)leader;
}

#define LOOK 32 /* instructions */

/* May the code at pc, where a call has just returned, look at the result of the call? No if it overwrites the register on
 * the only way from there. The answer depends only on the code. */
static bool result_matters(uint64_t pc)
{
    const uint8_t *p = (const uint8_t *)pc;
    for (int n = 0; n < LOOK; n++) {
        struct mz_instruction i = mz_decode(p);
        if (!i.known || i.anywhere || i.returns || (i.read | i.address) & 1u << MZ_RAX) return true;
        if (i.calls || i.written & 1u << MZ_RAX) return false;
        if (i.target ? !i.ends : i.ends) return true;
        p = i.target ? i.target : i.next;
    }
    return true;
}

/* Of these threads, which wait at a barrier, those that it makes a difference to make the serial thread. */
static uint64_t serial_choices(uint64_t threads)
{
    uint64_t choices = 0, others = 0;
    for (uint64_t t = threads; t; t &= t - 1) {
        bool matters = result_matters(rt.view.pending[__builtin_ctzll(t)].pc);
        *(matters ? &choices : &others) |= t & -t;
    }
    return choices | (others & -others);
}

/* The leader's choice says which thread gets PTHREAD_BARRIER_SERIAL_THREAD. Then all threads of this meeting
 * continue. They are in `expected`; b->arrived may already hold threads of the next meeting. */
static void lead(const void *frame)
{
    uint64_t others = rt.view.pending[rt.self].expected & ~mz_slot_bit(rt.self);
    int serial = rt.choice;
    mz_commit(MZ_WRITES, 0);
    MZ_RECORD(MZ_OP_CHOOSE, 0, 0, MZ_RECORD_HAS_VALUE, (uint64_t)serial, 0, 0, frame);
    rt.run.threads[rt.self].serial = rt.self == serial;
    for (; others; others &= others - 1) {
        int t = __builtin_ctzll(others);
        mz_explore_wake(rt.x, rt.path->depth, t);
        mz_undo_thread(t);
        rt.run.threads[t].serial = t == serial;
        rt.run.threads[t].state = MZ_THREAD_RUNNABLE;
        rt.run.interrupted[rt.run.interrupted_count++] = (uint8_t)t;
    }
}

/* The running thread is the leader. */
static void choose_serial(struct mz_barrier *b, const void *pc, const void *frame)
{
    post(b, MZ_OP_CHOOSE, serial_choices(b->arrived), pc);
    rt.view.pending[rt.self].expected = b->arrived;
    rt.run.threads[rt.self].serial = 0;
    mz_keep_program(b, sizeof *b);
    b->arrived = 0;
    mz_dispatch();
    lead(frame);
}

MZ_EXPORT int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    struct mz_barrier *b = of(barrier);
    struct mz_thread *me = &rt.run.threads[rt.self];
    if (!rt.active) return PTHREAD_BARRIER_SERIAL_THREAD;
    check(b);
    arrive(b, MZ_PC(), MZ_FRAME());
    post(b, MZ_OP_NONE, 1, MZ_PC());
    if ((unsigned)__builtin_popcountll(b->arrived) == b->count) let_leader_go(b);
    if (me->serial != LEADS) mz_dispatch();
    /* Only the leader may look at the barrier now: for the others it may be gone. */
    if (me->serial == LEADS) choose_serial(b, MZ_PC(), MZ_FRAME());
    bool serial = me->serial;
    me->serial = 0;
    return serial ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}

MZ_EXPORT int pthread_barrier_init(pthread_barrier_t *restrict barrier,
                                   const pthread_barrierattr_t *restrict attr, unsigned count)
{
    (void)attr;
    if (!count) return EINVAL;
    mz_object_written(barrier, sizeof(struct mz_barrier), MZ_PC(), MZ_FRAME());
    mz_keep_program(barrier, sizeof(struct mz_barrier));
    *of(barrier) = (struct mz_barrier){.count = count, .mark = INITIALISED};
    return 0;
}

MZ_EXPORT int pthread_barrier_destroy(pthread_barrier_t *barrier)
{
    struct mz_barrier *b = of(barrier);
    if (!rt.active) return 0;
    check(b);
    if (b->arrived) mz_misuse("a barrier is destroyed while threads wait at it", b);
    mz_object_written(barrier, sizeof(struct mz_barrier), MZ_PC(), MZ_FRAME());
    mz_keep_program(b, sizeof *b);
    b->mark = MZ_DESTROYED;
    return 0;
}
