/* Loops that wait for another thread: while (!flag); while (trylock(&m)); polling under a mutex.
 *
 * A thread that returns to an earlier local state (local.c), and has changed nothing in between, is in such a
 * loop. The round could be left out of every execution without any thread noticing. So the thread makes one
 * round, and then stops for the rest of the execution, at the point where it holds the fewest locks (other
 * threads may need them to make the change). In other executions the thread finds what it waits for. The
 * reduction leads to them, because the reads of the loop conflict with the writes that it waits for. No bound
 * is needed.
 *
 * When no other thread can run, the stopped threads are put on *trial* (mz_spin_settle): each makes one more
 * round on memory as it is now. If all return to the same state without a change, and never let another
 * thread run (by releasing a lock for a moment), they would loop for ever: a livelock. If a thread does not
 * return, this execution was only a part of another one, which is explored, too; it counts as cut.
 *
 * A change (mz_thread.changes) is everything that is not local state: plain writes outside of the thread's
 * own stack, or to parts of it that other threads use (lent.c); visible operations that change their object;
 * allocation from the heap; being woken. Taking and releasing a lock is no change, because the held locks are
 * compared. But if the program calls trylock for such locks, it is a change: other threads can notice that
 * the lock was held for a moment.
 *
 * Invariant: the point where a thread stops depends only on its own past. So a thread starts with a clean
 * stack (clean.c) and with clean registers (fiber.c), and values that it will not read are not compared
 * (local.c).
 *
 * Libraries change memory without the runtime noticing. So a call of an unknown function counts as a change
 * (imports.c). In programs with libraries without instrumentation, such loops are not recognised (load.c
 * decides); they reach the step limit instead. */
#include "base/region.h"
#include "base/table.h"
#include "event/packet.h"
#include "runtime/loops/room.h"
#include "runtime/loops/spin.h"
#include "runtime/rewind/rewind.h"

#define ROUND 10000u /* operations in one round, when a stopped thread is tried */

#define lp mz_loops_room.spin

void mz_spin_init(void)
{
    mz_reads_init();
    mz_clean_init();
    lp.spins = mz_region_reserve(MZ_SLOTS * sizeof *lp.spins);
    MZ_ASSERT(lp.spins != NULL);
    lp.everywhere = rt.channel->options.mode == MZ_MODE_REPLAY; /* a replay cannot start over */
}

/* A stateful algorithm itself detects cycles of visible operations. */
void mz_spin_unneeded(void) { rt.spin_off = true; }

void mz_spin_forbid(const char *because)
{
    rt.spin_off = lp.unknown_changes = true;
    if (!*lp.forbidden) mz_text_copy(lp.forbidden, sizeof lp.forbidden, because);
}

bool mz_spin_is_forbidden(void) { return lp.unknown_changes; }

/* The step limit was reached: perhaps in a loop that waits. */
void mz_spin_note(void)
{
    char text[MZ_TEXT], *end = text + sizeof text, *t = text;
    const char *called = rt.up.import_called();
    if (lp.unknown_changes) {
        t = mz_text_add(t, end, "loops that wait are not recognised because of ");
        t = mz_text_add(t, end, lp.forbidden);
        mz_text_add(t, end, ": its changes are not known");
    } else if (called) {
        t = mz_text_add(t, end, "a loop that waits is not recognised if it calls ");
        t = mz_text_add(t, end, called);
        mz_text_add(t, end, ": its changes are not known");
    }
    if (t != text) mz_note(text);
}

void mz_spin_reset(void)
{
    for (uint32_t s = 0; s < rt.slots_known; s++) {
        lp.spins[s].count = lp.spins[s].next = lp.spins[s].changes = lp.spins[s].seen_count = 0;
        lp.spins[s].stopped = lp.spins[s].endless = lp.spins[s].bounded = 0;
    }
}

/* ---- where to look ---- */

/* Most operations are in no loop that waits, and saving the local state at each operation would cost more
 * than everything else. So it is saved only at places that a thread has passed twice without a change in
 * between. When such a place is new, the search starts over, as if the place had been known from the start.
 * If that happens late, all places count as such places, so that the search does not start over again and
 * again. */
#define PLACES MZ_SPIN_PLACES
#define LATE   64u /* executions */

/* Can a thread have been stopped in a loop? */
bool mz_spin_has_places(void) { return !rt.spin_off && (lp.place_count || lp.everywhere); }

static uint64_t *find_place(const void *pc)
{
    return mz_key_find(lp.places, sizeof *lp.places, PLACES - 1, mz_table_hash((uintptr_t)pc), (uintptr_t)pc);
}

static bool is_place(const void *pc) { return mz_unlikely(lp.everywhere) || *find_place(pc); }

static void add_place(const void *pc)
{
    if (is_place(pc)) return;
    if (lp.place_count == PLACES / 2) {
        lp.everywhere = true;
        return;
    }
    *find_place(pc) = (uintptr_t)pc;
    lp.place_count++;
}

void mz_spin_put(struct mz_message *m)
{
    mz_put(m, lp.everywhere);
    mz_clean_put(m);
    mz_put(m, rt.rounds_bounded);
    mz_reads_put(m);
    mz_put(m, lp.place_count);
    for (uint32_t i = 0; i < PLACES; i++)
        if (lp.places[i]) mz_put_long(m, mz_layout_out(lp.places[i]));
}

void mz_spin_get(struct mz_message *m)
{
    lp.everywhere = mz_get(m);
    mz_clean_get(m);
    mz_rounds_set(mz_get(m));
    mz_reads_get(m);
    for (uint32_t n = mz_get_count(m, 8); n > 0; n--)
        add_place((const void *)(uintptr_t)mz_layout_in(mz_get_long(m)));
}

/* Has the thread been here since its last change? Then local states are saved at all places that it has
 * passed since. */
static void look_for_round(struct mz_spin *s, const void *pc, size_t size)
{
    unsigned n = s->seen_count < MZ_SPIN_SEEN ? s->seen_count : MZ_SPIN_SEEN, i = 0;
    while (i < n && s->seen[i] != pc) i++;
    if (mz_likely(i == n)) {
        mz_keep(&s->seen[s->seen_count % MZ_SPIN_SEEN], sizeof *s->seen);
        s->seen[s->seen_count++ % MZ_SPIN_SEEN] = pc;
        return;
    }
    for (i = 0; i < n; i++) add_place(s->seen[i]);
    if (rt.runs > LATE) lp.everywhere = true;
    mz_clean_need(size);
    mz_explore_restart(rt.x);
}

static int find(const struct mz_spin *s, uint32_t slot)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (i != slot && s->states[i].pc == s->states[slot].pc &&
            mz_local_same(&s->states[i], &s->states[slot]))
            return (int)i;
    return -1;
}

/* Is there a place in the round from state `from` to state `to` where the thread holds fewer locks? */
static bool lets_go_between(const struct mz_spin *s, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i != to; i = (i + 1) % MZ_SPIN_STATES)
        if (s->states[i].held_count < s->states[to].held_count) return true;
    return false;
}

/* ---- the end of an execution ---- */

/* On trial: has the thread returned to the state in which it was stopped, or to another state of this trial?
 * (Other threads may have written to its stack since it was stopped, so it may never return to the first.)
 * Memory does not change, so either means that the thread loops for ever. Brent's algorithm decides which
 * state is kept for comparison. */
void mz_spin_tried(struct mz_spin *s, uint32_t slot, bool changed)
{
    uint32_t *anchor = &lp.last_round.anchor;
    bool back = s->stopped && mz_local_same(&s->states[s->stopped - 1], &s->states[slot]);
    back |= *anchor && mz_local_same(&s->states[*anchor - 1], &s->states[slot]);
    lp.last_round.stuck = !changed && back;
    if (lp.last_round.stuck || changed || ++lp.last_round.operations > ROUND) mz_fiber_leave();
    lp.last_round.captured++;
    if (!(lp.last_round.captured & (lp.last_round.captured - 1))) *anchor = slot + 1;
}

/* Returns the slot for the next state of a thread: not one that is compared on trial. */
static uint32_t free_state(const struct mz_spin *s)
{
    uint32_t slot = s->next;
    while (slot + 1 == s->stopped || (rt.trial && slot + 1 == lp.last_round.anchor))
        slot = (slot + 1) % MZ_SPIN_STATES;
    return slot;
}

static bool goes_round_for_ever(int slot)
{
    if (lp.spins[slot].endless) return true;
    if (lp.spins[slot].bounded) return false;
    lp.view = rt.view;
    lp.last_round.stuck = false;
    lp.last_round.operations = lp.last_round.captured = lp.last_round.anchor = 0;
    bool recording = rt.recording;
    rt.recording = false;
    rt.path->live = false;
    rt.trial = true;
    /* The thread may wake other threads. */
    for (uint32_t t = 0; t < rt.slots_known; t++) mz_undo_thread((int)t);
    rt.run.threads[slot].state = MZ_THREAD_RUNNABLE;
    mz_fiber_enter(slot);
    rt.trial = false;
    rt.recording = recording;
    rt.path->live = true;
    rt.view = lp.view;
    rt.run.threads[slot].state = MZ_THREAD_SPINNING;
    return lp.last_round.stuck;
}

/* Only threads that were stopped in loops are left. Would all of them loop for ever? */
bool mz_spin_settle(void)
{
    for (uint32_t s = 0; s < rt.slots_known; s++)
        if (rt.run.threads[s].state == MZ_THREAD_SPINNING && !goes_round_for_ever((int)s)) return false;
    return true;
}

bool mz_spin_any(void)
{
    for (uint32_t s = 0; s < rt.slots_known; s++)
        if (rt.run.threads[s].state == MZ_THREAD_SPINNING) return true;
    return false;
}

/* ---- during an execution ---- */

/* In a replay: does the schedule have more steps of the running thread? Then the thread was not stopped
 * here. */
bool mz_spin_goes_on_in_schedule(void)
{
    const struct mz_options_block *o = &rt.channel->options;
    if (o->mode != MZ_MODE_REPLAY) return false;
    const struct mz_step *steps = (const struct mz_step *)((const char *)rt.channel + o->schedule_offset);
    for (uint64_t i = rt.path->depth; i < o->schedule_length; i++)
        if (steps[i].thread == rt.self) return true;
    return false;
}

void mz_spin_stop(struct mz_spin *s, uint32_t state, uint64_t key, const void *pc)
{
    struct mz_thread *t = &rt.run.threads[rt.self];
    s->stopped = state + 1;
    rt.view.pending[rt.self] = (struct mz_pending){.choices = 1, .op = MZ_OP_NONE, .pc = (uintptr_t)pc};
    rt.view.enabled &= ~((uint64_t)1 << rt.self);
    t->state = MZ_THREAD_SPINNING;
    t->wait_object = key;
    mz_dispatch(); /* returns only on trial */
}

_Noreturn void mz_spin_for_ever(const void *pc)
{
    mz_keep(&lp.spins[rt.self], offsetof(struct mz_spin, seen));
    lp.spins[rt.self].endless = 1;
    mz_spin_stop(&lp.spins[rt.self], 0, 0, pc);
    MZ_BUG("a thread in an endless loop was run");
}

/* The running thread creates a thread, and there are as many as there may be (MZ_MAX_THREADS in all executions: a thread
 * has the same slot in all of them). It stops here for the rest of the execution, like a thread at a bound on rounds: what the
 * others do is explored, and the search is not complete. Whether the new thread has a slot never changes once it is
 * known: slots are not given back. */
_Noreturn void mz_spin_without_thread(void)
{
    if (rt.trial) mz_fiber_leave();
    struct mz_spin *s = mz_spin_self();
    s->bounded = 1;
    rt.channel->counters.uncreated++;
    mz_record_place(&rt.channel->end_place, MZ_FRAME());
    rt.channel->end_thread = rt.self;
    mz_spin_stop(s, MZ_SPIN_NO_STATE, 0, (const void *)rt.channel->end_place.pc[0]);
    MZ_BUG("a thread that was stopped was run");
}

/* The search has a bound on rounds: stop the running thread if it has reached the bound. */
static void count_round(struct mz_spin *s, uint64_t key, const void *pc, const void *frame)
{
    mz_clean_need(mz_local_depth(frame));
    if (!mz_rounds_visit(mz_local_hash(key, pc, frame))) return;
    mz_keep(s, offsetof(struct mz_spin, seen));
    s->bounded = 1;
    mz_record_place(&rt.channel->end_place, frame);
    rt.channel->end_thread = rt.self;
    mz_spin_stop(s, MZ_SPIN_NO_STATE, key, pc);
}

void mz_spin_count(uint64_t key, const void *pc, const void *frame)
{
    if (!frame || mz_local_depth(frame) > MZ_LOCAL_STACK || rt.trial) return;
    count_round(&lp.spins[rt.self], key, pc, frame);
}

struct mz_spin *mz_spin_self(void)
{
    mz_keep(&lp.spins[rt.self], offsetof(struct mz_spin, seen));
    return &lp.spins[rt.self];
}

uint32_t mz_spin_save(struct mz_spin *s, uint64_t key, const void *pc, const void *frame)
{
    uint32_t slot = free_state(s);
    mz_keep(&s->states[slot], mz_local_size(&s->states[slot]));
    mz_local_capture(&s->states[slot], key, pc, frame);
    if (slot >= s->count) s->count = slot + 1;
    s->next = (slot + 1) % MZ_SPIN_STATES;
    return slot;
}

/* The running thread is about to post an operation on the object, which may be part of a loop that waits. */
void mz_spin(uint64_t key, const void *pc, const void *frame)
{
    struct mz_spin *s = &lp.spins[rt.self];
    uint32_t changes = rt.run.threads[rt.self].changes;
    size_t size = mz_local_depth(frame);
    if (size > MZ_LOCAL_STACK) return;
    if (mz_unlikely(rt.rounds_bounded) && !rt.trial) count_round(s, key, pc, frame);
    if (rt.spin_off) return;
    bool changed = s->changes != changes;
    mz_keep(s, offsetof(struct mz_spin, seen));
    if (changed && !rt.trial) {
        s->count = s->next = s->seen_count = s->stopped = 0;
        s->changes = changes;
    }
    if (mz_likely(!is_place(pc))) {
        if (!rt.trial)
            look_for_round(s, pc, size);
        else if (changed || ++lp.last_round.operations > ROUND)
            mz_fiber_leave();
        return;
    }
    mz_clean_need(size);
    uint32_t slot = mz_spin_save(s, key, pc, frame);
    if (mz_unlikely(rt.trial)) {
        mz_spin_tried(s, slot, changed);
        return;
    }
    int before = find(s, slot);
    if (mz_unlikely(before >= 0) && !lets_go_between(s, (uint32_t)before, slot) &&
        !mz_spin_goes_on_in_schedule())
        mz_spin_stop(s, (uint32_t)before, key, pc);
}
