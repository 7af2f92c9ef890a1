/* Loops that wait. A thread that comes back to a local state it has been in before, having changed nothing in
 * between, goes round a loop that waits for others: while (!flag); while (trylock(&m)); polling under a
 * mutex. Such a round could be left out of every execution without anyone noticing. So it is made once, to
 * see what happens in it, and then the thread stops for the rest of the execution, where it holds the fewest
 * locks (others may need them to make the change): the executions in which it finds what it waits for are
 * others, and the reduction leads to them, since its reads are in conflict with the writes it waits for. No
 * bound is needed.
 *
 * When nothing else can run, the stopped threads are tried (mz_spin_settle): each makes one more round on
 * memory as it is now. If all come back unchanged, and never let another thread in (by giving back a lock for
 * a moment), they would for ever: a livelock. If one does not, this execution was only a part of another one
 * that is explored too; it counts as cut.
 *
 * Local state is: where the thread is (the address of the call), what it is about to use, the registers that survive calls, its
 * stack up to that call but for what other threads use of it (lent.c), errno, rounding modes, the locks it holds. Everything else that it changes counts as
 * a change (mz_thread.changes): plain writes outside of its own stack, and to what other threads use of it
 * (lent.c), visible operations that change their object, memory from the heap, being woken. Taking and giving back a lock is none, as the locks held are
 * compared; unless the program tries such locks: then others can notice that it was held for a moment, and it
 * is one. When a thread stops must depend on its own past only. So what is not in use of its stack must not
 * tell what the execution before left there: a thread starts with a clean stack, and with clean registers
 * (fiber.c).
 *
 * What libraries do behind our back would be missed. A call of a function that is not known counts as a change
 * (imports.c). Programs with libraries without instrumentation have no such loops recognised (start.c decides)
 * and run into the step limit instead.
 *
 * This file, and those that call mz_spin, are compiled such that they never use the registers that survive
 * calls (Makefile): in here they are still the program's. */
#include "imports.h"
#include "rounds.h"

#include "../base/mix.h"
#include "../base/region.h"
#include "../event/message.h"

#include <errno.h>

#define STATES     16u
#define NO_STATE   UINT32_MAX
#define STACK      32768u
#define SEEN       32u
#define REGS       7u
#define CLEAN      1024u  /* bytes of a stack that are cleared for a new thread */
#define CLEAN_MORE 4096u  /* for state.c */
#define ROUND      10000u /* operations in one round, when a stopped thread is tried */
#define EAGER      65536u /* plain reads, until it is looked whether they are a loop */
#define SHARE      128u   /* one of so many reads is looked at */
#define REPLAYED   8u     /* the same when replaying, where each read is recorded */

struct state {
    const void *pc;
    uint64_t key; /* what the operation is on: one call may do several, as memcpy does piece by piece */
    uint64_t regs[REGS];
    uint32_t size; /* of the stack */
    int error;
    uint8_t held_count;
    void *held[MZ_HELD];
    char stack[STACK];
};

struct mz_spin {
    uint32_t changes; /* of the thread, when the states were saved */
    uint32_t count;
    uint32_t next;
    uint32_t stopped; /* 1 + the state in which it was stopped; 0: none */
    uint32_t endless; /* it goes round for ever, whatever others do: see idle.c */
    uint32_t bounded; /* it may go on, but was stopped after some rounds: see rounds.c */
    uint32_t seen_count;
    const void *seen[SEEN]; /* operations since then, where the state is not saved */
    struct state states[STATES];
};

static struct mz_spin *spins;
static bool everywhere; /* all places are to be looked at, see below */
static bool all_clean;  /* larger stacks are cleared, too: one is to be compared */

/* Loops that only read: see the end of the file. */
static struct {
    uint64_t counted; /* reads, until reads_left was set */
    uint32_t set_to;
    uint32_t runs, depth, changes; /* when last looked */
    uint8_t self;
    uint32_t stretch; /* reads that are looked at, next time */
    uint32_t left;    /* of them; 0: not looking */
    uint32_t patience, since;
    uint64_t idle_from; /* reads counted when the thread last did something else */
    bool bounded;       /* see mz_spin_tired */
    bool tired;
    struct state anchor, now;
} reads = {.stretch = EAGER / SHARE};

static void look_after(uint32_t reads);

static uint32_t begin_with(void) { return rt.channel->options.mode == MZ_MODE_REPLAY ? REPLAYED : EAGER; }

void mz_spin_init(void)
{
    look_after(begin_with());
    spins = mz_region_reserve(MZ_SLOTS * sizeof *spins);
    MZ_ASSERT(spins != NULL);
    everywhere = all_clean = rt.channel->options.mode == MZ_MODE_REPLAY; /* there is no second time */
}

static char forbidden[MZ_TEXT];
static bool unknown_changes; /* those that are the reason */

/* A stateful algorithm notices itself when visible operations go round. */
void mz_spin_unneeded(void) { rt.spin_off = true; }

void mz_spin_forbid(const char *because)
{
    rt.spin_off = unknown_changes = true;
    if (!*forbidden) mz_text_copy(forbidden, sizeof forbidden, because);
}

/* The step limit was reached: perhaps in a loop that waits. */
void mz_spin_note(void)
{
    char text[MZ_TEXT], *end = text + sizeof text, *t = text;
    const char *called = mz_imports_called();
    if (unknown_changes) {
        t = mz_text_add(t, end, "loops that wait are not recognised because of ");
        t = mz_text_add(t, end, forbidden);
        mz_text_add(t, end, ": what it changes is not known");
    } else if (called) {
        t = mz_text_add(t, end, "a loop that waits is not recognised if it calls ");
        t = mz_text_add(t, end, called);
        mz_text_add(t, end, ": what that changes is not known");
    }
    if (t != text) mz_note(text);
}

void mz_spin_reset(void)
{
    for (uint32_t s = 0; s < rt.slots_known; s++) {
        spins[s].count = spins[s].next = spins[s].changes = spins[s].seen_count = 0;
        spins[s].stopped = spins[s].endless = spins[s].bounded = 0;
    }
}

/* ---- where to look ---- */

/* Most operations are in no loop that waits, and saving the local state at each would cost more than all
 * else. So it is saved only at places that a thread has come by twice without a change in between. When there
 * is a new one, all that happened before it was known is forgotten, and the search starts over: it must be as
 * if it had been known from the start. If that is late, all places count as such, so that it does not happen
 * over and over. */
#define PLACES 256u
#define LATE   64u /* executions */

static const void *places[PLACES]; /* open addressing; at most half full */
static uint32_t place_count;

/* Can a thread have been stopped in a loop? */
bool mz_spin_has_places(void) { return !rt.spin_off && (place_count || everywhere); }

static uint32_t hash(const void *pc) { return (uint32_t)((uintptr_t)pc * 0x9e3779b97f4a7c15ull >> 56); }

static bool is_place(const void *pc)
{
    if (mz_unlikely(everywhere)) return true;
    for (uint32_t i = hash(pc); places[i]; i = (i + 1) % PLACES)
        if (places[i] == pc) return true;
    return false;
}

static void add_place(const void *pc)
{
    uint32_t i = hash(pc);
    if (is_place(pc)) return;
    if (place_count == PLACES / 2) {
        everywhere = true;
        return;
    }
    while (places[i]) i = (i + 1) % PLACES;
    places[i] = pc;
    place_count++;
}

void mz_spin_put(struct mz_message *m)
{
    mz_put(m, everywhere);
    mz_put(m, all_clean);
    mz_put(m, mz_rounds_bounded);
    mz_put(m, reads.bounded);
    mz_put(m, place_count);
    for (uint32_t i = 0; i < PLACES; i++)
        if (places[i]) mz_put_long(m, mz_layout_out((uintptr_t)places[i]));
}

void mz_spin_get(struct mz_message *m)
{
    everywhere = mz_get(m);
    all_clean = mz_get(m);
    mz_rounds_set(mz_get(m));
    reads.bounded = mz_get(m);
    for (uint32_t n = mz_get_count(m, 8); n > 0; n--)
        add_place((const void *)(uintptr_t)mz_layout_in(mz_get_long(m)));
}

/* Has the thread been here since it changed anything? Then all places it came by since are to be looked at.
 */
static void look_for_round(struct mz_spin *s, const void *pc, size_t size)
{
    unsigned n = s->seen_count < SEEN ? s->seen_count : SEEN, i = 0;
    while (i < n && s->seen[i] != pc) i++;
    if (mz_likely(i == n)) {
        mz_keep(&s->seen[s->seen_count % SEEN], sizeof *s->seen);
        s->seen[s->seen_count++ % SEEN] = pc;
        return;
    }
    for (i = 0; i < n; i++) add_place(s->seen[i]);
    if (rt.runs > LATE) everywhere = true;
    if (size > CLEAN) all_clean = true;
    mz_explore_restart(rt.x);
}

void mz_spin_clean(char *stack_high)
{
    size_t size = mz_spin_clean_size();
    if (size) mz_raw_memset(stack_high - size, 0, size);
}

/* How much of the stack of a new thread must not tell what was there before. */
size_t mz_spin_clean_size(void)
{
    if (rt.stateful) return CLEAN_MORE;
    if (mz_rounds_bounded) return STACK;
    return !mz_spin_has_places() ? 0 : all_clean ? STACK : CLEAN;
}

static void compare_larger(void)
{
    all_clean = true;
    mz_explore_restart(rt.x);
}

/* What other threads use of the stack is not local. */
static void leave_lent_out(struct state *s, const char *sp)
{
    uint64_t *words = (uint64_t *)(void *)s->stack;
    const char *private_high = rt.slots[rt.self].private_high;
    for (uint32_t i = private_high > sp ? (uint32_t)(private_high - sp) / 8 : 0; i < s->size / 8; i++)
        for (uint8_t lent = mz_lent_bytes(sp + i * 8), b = 0; lent >> b; b++)
            if (lent >> b & 1) words[i] &= ~(0xffull << b * 8);
}

static inline __attribute__((always_inline)) void capture(struct state *s, uint64_t key, const void *pc,
                                                          const void *frame)
{
    const struct mz_thread *t = &rt.run.threads[rt.self];
    const char *sp = (const char *)frame + 16;
    s->pc = pc;
    s->key = key;
    s->regs[0] = *(const uint64_t *)frame; /* the caller's frame pointer */
    __asm__ volatile("movq %%rbx, %0\n\tmovq %%r12, %1\n\tmovq %%r13, %2\n\tmovq %%r14, %3\n\tmovq %%r15, %4"
                     : "=m"(s->regs[1]), "=m"(s->regs[2]), "=m"(s->regs[3]), "=m"(s->regs[4]),
                       "=m"(s->regs[5]));
    s->regs[6] = mz_unlikely(rt.switch_fp) ? mz_fiber_environment(rt.self) : 0;
    s->size = (uint32_t)(rt.slots[rt.self].stack_high - sp);
    s->error = errno;
    s->held_count = t->held_count;
    for (unsigned i = 0; i < t->held_count; i++) s->held[i] = t->held[i];
    const uint64_t *restrict from = (const uint64_t *)(const void *)sp;
    uint64_t *restrict to = (uint64_t *)(void *)s->stack;
    for (uint32_t i = 0; i < s->size / 8; i++) to[i] = from[i];
    if (mz_unlikely(rt.slots[rt.self].private_high != rt.slots[rt.self].stack_high)) leave_lent_out(s, sp);
}

static bool same(const struct state *a, const struct state *b)
{
    if (a->pc != b->pc || a->key != b->key || a->size != b->size || a->error != b->error ||
        a->held_count != b->held_count)
        return false;
    for (unsigned i = 0; i < REGS; i++)
        if (a->regs[i] != b->regs[i]) return false;
    for (unsigned i = 0; i < a->held_count; i++)
        if (a->held[i] != b->held[i]) return false;
    const uint64_t *p = (const uint64_t *)(const void *)a->stack,
                   *q = (const uint64_t *)(const void *)b->stack;
    for (uint32_t i = 0; i < a->size / 8; i++)
        if (p[i] != q[i]) return false;
    return true;
}

static int find(const struct mz_spin *s, uint32_t slot)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (i != slot && s->states[i].pc == s->states[slot].pc && same(&s->states[i], &s->states[slot]))
            return (int)i;
    return -1;
}

/* In the round from one state to the other, is there a place where the thread holds fewer locks? */
static bool lets_go_between(const struct mz_spin *s, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i != to; i = (i + 1) % STATES)
        if (s->states[i].held_count < s->states[to].held_count) return true;
    return false;
}

/* ---- the end of an execution ---- */

static struct {
    uint32_t operations;
    uint32_t captured; /* states */
    uint32_t anchor;   /* 1 + one of them, to compare later ones with; 0: none yet */
    bool stuck;
} last_round;

/* On trial: is the thread back in the state in which it was stopped, or in one that it came to on this trial? (Other
 * threads may have written to its stack since it was stopped, so it may never be back in the first.) Memory stays as
 * it is, so either means that it goes round for ever. Which states are kept: Brent's algorithm. */
static void tried(struct mz_spin *s, uint32_t slot, bool changed)
{
    uint32_t *anchor = &last_round.anchor;
    bool back = s->stopped && same(&s->states[s->stopped - 1], &s->states[slot]);
    back |= *anchor && same(&s->states[*anchor - 1], &s->states[slot]);
    last_round.stuck = !changed && back;
    if (last_round.stuck || changed || ++last_round.operations > ROUND) mz_fiber_leave();
    last_round.captured++;
    if (!(last_round.captured & (last_round.captured - 1))) *anchor = slot + 1;
}

/* Where the next state of a thread is saved: not over those that are compared with on trial. */
static uint32_t free_state(const struct mz_spin *s)
{
    uint32_t slot = s->next;
    while (slot + 1 == s->stopped || (rt.trial && slot + 1 == last_round.anchor)) slot = (slot + 1) % STATES;
    return slot;
}

static bool goes_round_for_ever(int slot)
{
    if (spins[slot].endless) return true;
    if (spins[slot].bounded) return false;
    static struct mz_view view; /* for the next one to be tried, and for the engine when all have been */
    view = rt.view;
    last_round.stuck = false;
    last_round.operations = last_round.captured = last_round.anchor = 0;
    bool recording = rt.recording;
    rt.recording = false;
    rt.path->live = false;
    rt.trial = true;
    for (uint32_t t = 0; t < rt.slots_known; t++) mz_undo_thread((int)t); /* it may wake others */
    rt.run.threads[slot].state = MZ_THREAD_RUNNABLE;
    mz_fiber_enter(slot);
    rt.trial = false;
    rt.recording = recording;
    rt.path->live = true;
    rt.view = view;
    rt.run.threads[slot].state = MZ_THREAD_SPINNING;
    return last_round.stuck;
}

/* Nothing can run but threads that were stopped in loops. Would all of them go round for ever? */
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

/* ---- during it ---- */

/* Replaying: has the schedule more steps of the running thread? Then it was not stopped here. */
static bool goes_on_in_schedule(void)
{
    const struct mz_options_block *o = &rt.channel->options;
    if (o->mode != MZ_MODE_REPLAY) return false;
    const struct mz_step *steps = (const struct mz_step *)((const char *)rt.channel + o->schedule_offset);
    for (uint64_t i = rt.path->depth; i < o->schedule_length; i++)
        if (steps[i].thread == rt.self) return true;
    return false;
}

static void stop(struct mz_spin *s, uint32_t state, uint64_t key, const void *pc)
{
    struct mz_thread *t = &rt.run.threads[rt.self];
    s->stopped = state + 1;
    rt.view.pending[rt.self] = (struct mz_pending){.choices = 1, .op = MZ_OP_NONE, .pc = (uintptr_t)pc};
    rt.view.enabled &= ~((uint64_t)1 << rt.self);
    t->state = MZ_THREAD_SPINNING;
    t->wait_object = key;
    mz_dispatch(); /* comes back only on trial */
}

_Noreturn void mz_spin_for_ever(const void *pc)
{
    mz_keep(&spins[rt.self], offsetof(struct mz_spin, seen));
    spins[rt.self].endless = 1;
    stop(&spins[rt.self], 0, 0, pc);
    MZ_BUG("a thread in an endless loop was run");
}

/* The search has a bound on rounds: has the running thread gone round often enough? */
static inline __attribute__((always_inline)) void count_round(struct mz_spin *s, uint64_t key, const void *pc,
                                                              const void *frame)
{
    static struct {
        struct state state;
        uint64_t even; /* mz_mix_words reads pairs */
    } now;
    struct mz_mix mix = {0};
    mz_raw_memset(&now.state, 0, offsetof(struct state, stack)); /* unused places for locks, padding */
    capture(&now.state, key, pc, frame);
    uint64_t *end = (uint64_t *)(void *)(now.state.stack + now.state.size);
    *end = 0;
    mz_mix_words(&mix, (const uint64_t *)(const void *)&now.state, end);
    if (!mz_rounds_visit(mix.hash[0] ^ mix.hash[1])) return;
    mz_keep(s, offsetof(struct mz_spin, seen));
    s->bounded = 1;
    mz_record_place(&rt.channel->end_place, frame);
    rt.channel->end_thread = rt.self;
    stop(s, NO_STATE, key, pc);
}

void mz_spin_count(uint64_t key, const void *pc, const void *frame)
{
    size_t size = (size_t)(rt.slots[rt.self].stack_high - (const char *)frame);
    if (frame && size <= STACK && !rt.trial) count_round(&spins[rt.self], key, pc, frame);
}

/* The running thread is about to post an operation on the object, which may be part of a loop that waits. */
void mz_spin(uint64_t key, const void *pc, const void *frame)
{
    struct mz_spin *s = &spins[rt.self];
    uint32_t changes = rt.run.threads[rt.self].changes;
    size_t size = (size_t)(rt.slots[rt.self].stack_high - (const char *)frame);
    if (size > STACK) return;
    if (mz_unlikely(mz_rounds_bounded) && !rt.trial) count_round(s, key, pc, frame);
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
        else if (changed || ++last_round.operations > ROUND)
            mz_fiber_leave();
        return;
    }
    if (mz_unlikely(size > CLEAN && !all_clean)) compare_larger();
    uint32_t slot = free_state(s);
    mz_keep(&s->states[slot], offsetof(struct state, stack) + s->states[slot].size);
    capture(&s->states[slot], key, pc, frame);
    if (slot >= s->count) s->count = slot + 1;
    s->next = (slot + 1) % STATES;
    if (mz_unlikely(rt.trial)) {
        tried(s, slot, changed);
        return;
    }
    int before = find(s, slot);
    if (mz_unlikely(before >= 0) && !lets_go_between(s, (uint32_t)before, slot) && !goes_on_in_schedule())
        stop(s, (uint32_t)before, key, pc);
}

/* ---- loops that only read ---- */

/* A loop of plain reads, while (!ready); has no visible operation: nobody else would ever run. As long as the
 * thread changes nothing, memory stays as it is, so if it comes back to the same local state it goes round
 * for ever, unless another thread writes to what it reads. It is stopped like others; that thread then writes
 * to what has been read, which is a data race. Where nobody does, it is a livelock.
 *
 * Looked at is one of SHARE reads, in stretches, and only if in all of the reads before nothing changed and
 * no operation happened. How long that takes depends on what other threads did; but all rounds are alike, so
 * it does not matter in which of them the thread is stopped. Within a stretch: Brent's algorithm. */
static void look_after(uint32_t n)
{
    reads.counted += reads.set_to - rt.reads_left;
    rt.reads_left = reads.set_to = n;
}

uint64_t mz_spin_reads_counted(void) { return reads.counted + reads.set_to - rt.reads_left; }

/* Has anything happened since it was last looked? */
static bool is_idle(uint32_t changes)
{
    bool idle = reads.runs == rt.runs && reads.depth == rt.path->depth && reads.self == rt.self &&
                reads.changes == changes;
    reads.runs = rt.runs;
    reads.depth = rt.path->depth;
    reads.self = rt.self;
    reads.changes = changes;
    return idle;
}

/* Is this read part of a stretch that is looked at? Decides when to look again. */
static bool is_looked_at(bool idle)
{
    if (!idle) {
        reads.idle_from = reads.counted;
        reads.stretch = EAGER / SHARE;
        reads.left = 0;
        look_after(begin_with());
        return false;
    } else if (!reads.left) { /* none so far: a stretch begins */
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
    struct mz_spin *s = &spins[rt.self];
    mz_keep(s, offsetof(struct mz_spin, seen));
    mz_keep(&s->states[0], offsetof(struct state, stack) + s->states[0].size);
    s->changes = changes;
    s->count = s->next = 1;
    mz_raw_memcpy(&s->states[0], &reads.now, offsetof(struct state, stack) + reads.now.size);
    look_after(begin_with());
    reads.left = 0;
    stop(s, 0, (uintptr_t)p, pc);
    look_after(1); /* on trial */
}

/* A loop that counts its rounds, while (!ready) n++; never comes back to the same local state. When such a thread has
 * read for seconds (signals.c), it is stopped all the same, so that others can run: what they write is a data race.
 * From then on a thread is stopped after MOST_READS, and the verdict is at best *incomplete*, as for rounds.c. */
#define MOST_READS (1u << 20)

#define MOST_STOPS 16u /* such stops that cost seconds each, until the search ends */

/* From a signal handler: a thread has gone on long enough, and is to be stopped at its next read. False: the search
 * should end, since there is no such read, or there were too many stops. */
bool mz_spin_tired(void)
{
    static uint32_t stops;
    if (reads.tired || unknown_changes || ++stops > MOST_STOPS) return false;
    reads.tired = true;
    rt.reads_left = 1;
    return true;
}

static bool is_tired(void)
{
    return reads.tired || (reads.bounded && reads.counted - reads.idle_from > MOST_READS);
}

static void stop_tired(const void *p, const void *pc, const void *frame)
{
    struct mz_spin *s = &spins[rt.self];
    if (!reads.bounded && !rt.stateful && !rt.once) mz_explore_restart(rt.x);
    reads.bounded = true;
    reads.tired = false;
    reads.left = 0;
    look_after(begin_with());
    mz_keep(s, offsetof(struct mz_spin, seen));
    s->bounded = 1;
    rt.channel->counters.bounded++;
    mz_record_place(&rt.channel->end_place, frame);
    rt.channel->end_thread = rt.self;
    stop(s, NO_STATE, (uintptr_t)p, pc);
}

/* The same for a thread in a loop without hooks. */
_Noreturn void mz_spin_stop_tired(const void *pc)
{
    stop_tired(NULL, pc, MZ_FRAME());
    MZ_BUG("a thread that was stopped for good was run");
}

static void try_reading(uint32_t changes, const void *p, const void *pc, const void *frame)
{
    struct mz_spin *s = &spins[rt.self];
    look_after(1);
    uint32_t slot = free_state(s);
    mz_keep(s, offsetof(struct mz_spin, seen));
    mz_keep(&s->states[slot], offsetof(struct state, stack) + s->states[slot].size);
    capture(&s->states[slot], (uintptr_t)p, pc, frame);
    s->next = (slot + 1) % STATES;
    tried(s, slot, s->changes != changes);
}

void mz_spin_reads(const void *p, const void *pc, const void *frame)
{
    uint32_t changes = rt.run.threads[rt.self].changes;
    size_t size = (size_t)(rt.slots[rt.self].stack_high - (const char *)frame);
    bool blind = size > STACK || unknown_changes || rt.section || !frame;
    if (mz_unlikely(rt.trial) && !blind) {
        try_reading(changes, p, pc, frame);
        return;
    }
    bool looked_at = !blind && is_looked_at(is_idle(changes));
    if (mz_unlikely(is_tired()) && !blind && !goes_on_in_schedule()) stop_tired(p, pc, frame);
    if (blind) look_after(begin_with());
    if (!looked_at) return;
    if (reads.anchor.pc == pc) {
        capture(&reads.now, (uintptr_t)p, pc, frame);
        if (same(&reads.anchor, &reads.now) && !goes_on_in_schedule()) {
            stop_reading(changes, p, pc);
            return;
        }
    }
    if (reads.since++ < reads.patience && reads.anchor.pc) return;
    reads.patience *= 2;
    reads.since = 0;
    capture(&reads.anchor, (uintptr_t)p, pc, frame);
}
