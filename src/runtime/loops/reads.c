/* Loops that only read.
 *
 * A loop of plain reads, while (!ready); has no visible operation, so no other thread would ever run. As long
 * as the thread changes nothing, memory stays as it is: if the thread returns to the same local state, it
 * loops for ever, unless another thread writes to a location that it reads. It is stopped as in other loops
 * that wait (spin.c). If another thread then writes what the loop has read, that is a data race; if no thread
 * does, it is a livelock.
 *
 * Reads are frequent, so only one of SHARE reads is checked, in stretches of consecutive reads, and only if
 * nothing changed and no operation happened since the last check. The number of rounds until the thread stops
 * depends on what other threads did. But all rounds are alike, so it does not matter in which round the
 * thread stops. Within a stretch, Brent's algorithm finds the cycle.
 *
 * A loop that counts its rounds, while (!ready) n++; never returns to the same local state. Two mechanisms
 * find its data race.
 *
 * The probe comes first, once in a search. A thread that has made MOST_READS plain reads within one step
 * stops for the rest of that execution, and the other threads run on: if one of them writes what the thread
 * has read, the race is reported. Otherwise the execution is discarded, the search starts over, and no thread
 * is stopped in this way again: a long computation costs one more execution.
 *
 * A thread that has then read for seconds of processor time (crash.c) stops for good. From then on every thread
 * stops after MOST_READS, and the verdict is at best *incomplete*, as for rounds.c. */
#include "event/packet.h"
#include "runtime/loops/room.h"
#include "runtime/loops/spin.h"
#include "runtime/rewind/rewind.h"

#define EAGER      65536u     /* plain reads until the first check */
#define SHARE      128u       /* one of SHARE reads is checked */
#define REPLAYED   8u         /* the same in a replay, where each read is recorded */
#define MOST_READS (1u << 20) /* see above */
#define MOST_STOPS 16u        /* stops that cost seconds each, until the search ends */

#define reads mz_loops_room.reads

/* Check again after n reads. */
static void look_after(uint32_t n)
{
    reads.counted += reads.set_to - rt.reads_left;
    rt.reads_left = reads.set_to = n;
}

static uint32_t begin_with(void) { return rt.channel->options.mode == MZ_MODE_REPLAY ? REPLAYED : EAGER; }

void mz_reads_init(void)
{
    reads.stretch = EAGER / SHARE;
    look_after(begin_with());
}

void mz_reads_put(struct mz_message *m)
{
    mz_put(m, reads.probed);
    mz_put(m, reads.bounded);
}

void mz_reads_get(struct mz_message *m)
{
    reads.probed = mz_get(m);
    reads.bounded = mz_get(m);
}

uint64_t mz_spin_reads_counted(void) { return reads.counted + reads.set_to - rt.reads_left; }

/* Has the thread changed nothing since the last check? */
static bool is_idle(uint32_t changes)
{
    bool same_step = reads.runs == rt.runs && reads.depth == rt.path->depth && reads.self == rt.self;
    bool idle = same_step && reads.changes == changes;
    if (!same_step) reads.alone_from = reads.counted;
    reads.runs = rt.runs;
    reads.depth = rt.path->depth;
    reads.self = rt.self;
    reads.changes = changes;
    return idle;
}

/* Is this read part of a stretch that is checked? Also decides when to check again. */
static bool is_looked_at(bool idle)
{
    if (!idle) {
        reads.idle_from = reads.counted;
        reads.stretch = EAGER / SHARE;
        reads.left = 0;
        look_after(begin_with());
        return false;
    } else if (!reads.left) { /* a stretch begins */
        reads.left = reads.stretch;
        reads.patience = 1;
        reads.since = 0;
        reads.anchor.pc = NULL;
    } else if (--reads.left == 0 && reads.stretch < UINT32_MAX / SHARE / 2) {
        reads.stretch *= 2;
    }
    look_after(reads.left ? 1 : reads.stretch * SHARE);
    return reads.left;
}

static void stop_reading(uint32_t changes, const void *p, const void *pc)
{
    struct mz_spin *s = mz_spin_self();
    mz_keep(&s->states[0], mz_local_size(&s->states[0]));
    s->changes = changes;
    s->count = s->next = 1;
    mz_raw_memcpy(&s->states[0], &reads.now, mz_local_size(&reads.now));
    look_after(begin_with());
    reads.left = 0;
    mz_spin_stop(s, 0, (uintptr_t)p, pc);
    look_after(1); /* the stopped thread is on trial (spin.c) */
}

/* Called from a signal handler: a thread has read for too long, and will stop at its next read. Returns false
 * if the search should end: the thread does not read any more, or there were too many stops. */
bool mz_spin_tired(void)
{
    if (reads.tired || mz_spin_is_forbidden() || ++reads.stops > MOST_STOPS) return false;
    reads.tired = true;
    rt.reads_left = 1;
    return true;
}

static bool is_tired(void)
{
    return reads.tired || (reads.bounded && reads.counted - reads.idle_from > MOST_READS);
}

static bool is_probed(void) { return !reads.probed && reads.counted - reads.alone_from > MOST_READS; }

/* Stop the running thread for the rest of the execution, whatever it would do next. */
static void stop_for_good(const void *p, const void *pc)
{
    struct mz_spin *s = mz_spin_self();
    reads.left = 0;
    look_after(begin_with());
    s->bounded = 1;
    mz_spin_stop(s, MZ_SPIN_NO_STATE, (uintptr_t)p, pc);
}

static void stop_probed(const void *p, const void *pc)
{
    reads.probed = true;
    if (!rt.once) mz_explore_restart(rt.x);
    stop_for_good(p, pc);
}

static void stop_tired(const void *p, const void *pc, const void *frame)
{
    if (!reads.bounded && !rt.stateful && !rt.once) mz_explore_restart(rt.x);
    reads.bounded = true;
    reads.tired = false;
    rt.channel->counters.bounded++;
    mz_record_place(&rt.channel->end_place, frame);
    rt.channel->end_thread = rt.self;
    stop_for_good(p, pc);
}

/* The same for a thread in a loop without hooks. */
_Noreturn void mz_spin_stop_tired(const void *pc)
{
    stop_tired(NULL, pc, MZ_FRAME());
    MZ_BUG("a thread that was stopped for good was run");
}

/* On trial (spin.c): every read is checked. */
static void try_reading(uint32_t changes, const void *p, const void *pc, const void *frame)
{
    struct mz_spin *s = mz_spin_self();
    look_after(1);
    uint32_t slot = mz_spin_save(s, (uintptr_t)p, pc, frame);
    mz_spin_tried(s, slot, s->changes != changes);
}

void mz_spin_reads(const void *p, const void *pc, const void *frame)
{
    uint32_t changes = rt.run.threads[rt.self].changes;
    bool blind = mz_local_depth(frame) > MZ_LOCAL_STACK || mz_spin_is_forbidden() || rt.section || !frame;
    if (mz_unlikely(rt.trial) && !blind) {
        try_reading(changes, p, pc, frame);
        return;
    }
    bool looked_at = !blind && is_looked_at(is_idle(changes));
    if (mz_unlikely(is_probed()) && !blind && !mz_spin_goes_on_in_schedule()) stop_probed(p, pc);
    if (mz_unlikely(is_tired()) && !blind && !mz_spin_goes_on_in_schedule()) stop_tired(p, pc, frame);
    if (blind) look_after(begin_with());
    if (!looked_at) return;
    if (reads.anchor.pc == pc) {
        mz_local_capture(&reads.now, (uintptr_t)p, pc, frame);
        if (mz_local_same(&reads.anchor, &reads.now) && !mz_spin_goes_on_in_schedule()) {
            stop_reading(changes, p, pc);
            return;
        }
    }
    if (reads.since++ < reads.patience && reads.anchor.pc) return;
    reads.patience *= 2;
    reads.since = 0;
    mz_local_capture(&reads.anchor, (uintptr_t)p, pc, frame);
}
