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
 * Local state is: where the thread is (the address of the call), the registers that survive calls, all of its
 * stack up to that call, errno, rounding modes, the locks it holds. Everything else that it changes counts as
 * a change (mz_thread.changes): plain writes outside of its own stack, visible operations that change their
 * object, memory from the heap, being woken. Taking and giving back a lock is none, as the locks held are
 * compared; unless the program tries such locks: then others can notice that it was held for a moment, and it
 * is one. When a thread stops must depend on its own past only. So what is not in use of its stack must not
 * tell what the execution before left there: a thread starts with a clean stack, and with clean registers
 * (fiber.c).
 *
 * What libraries do behind our back would be missed: programs that use functions of libc with a hidden state,
 * or libraries without instrumentation, have no such loops recognised (start.c decides) and run into the step
 * limit instead.
 *
 * This file, and those that call mz_spin, are compiled such that they never use the registers that survive
 * calls (Makefile): in here they are still the program's. */
#include "runtime.h"

#include "../base/region.h"
#include "../event/message.h"

#include <errno.h>

#define STATES     16u
#define STACK      32768u
#define SEEN       32u
#define REGS       7u
#define CLEAN      1024u  /* bytes of a stack that are cleared for a new thread */
#define CLEAN_MORE 4096u  /* for state.c */
#define ROUND      10000u /* operations in one round, when a stopped thread is tried */

struct state {
    const void *pc;
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
    uint32_t seen_count;
    const void *seen[SEEN]; /* operations since then, where the state is not saved */
    struct state states[STATES];
};

static struct mz_spin *spins;
static bool everywhere; /* all places are to be looked at, see below */
static bool all_clean;  /* larger stacks are cleared, too: one is to be compared */

void mz_spin_init(void)
{
    spins = mz_region_reserve(MZ_SLOTS * sizeof *spins);
    MZ_ASSERT(spins != NULL);
    everywhere = all_clean = rt.channel->options.mode == MZ_MODE_REPLAY; /* there is no second time */
}

static char forbidden[MZ_TEXT];

void mz_spin_forbid(const char *because)
{
    rt.spin_off = true;
    if (!*forbidden) mz_text_copy(forbidden, sizeof forbidden, because);
}

/* The step limit was reached: perhaps in a loop that waits. */
void mz_spin_note(void)
{
    char text[MZ_TEXT], *end = text + sizeof text, *t = text;
    if (!rt.spin_off) return;
    t = mz_text_add(t, end, "loops that wait are not recognised because of ");
    t = mz_text_add(t, end, forbidden);
    mz_text_add(t, end, ": what it changes is not known");
    mz_note(text);
}

void mz_spin_reset(void)
{
    for (uint32_t s = 0; s < rt.slots_known; s++) {
        spins[s].count = spins[s].next = spins[s].changes = spins[s].seen_count = spins[s].stopped = 0;
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
    mz_put(m, place_count);
    for (uint32_t i = 0; i < PLACES; i++)
        if (places[i]) mz_put_long(m, mz_layout_out((uintptr_t)places[i]));
}

void mz_spin_get(struct mz_message *m)
{
    everywhere = mz_get(m);
    all_clean = mz_get(m);
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
    return rt.spin_off || !(place_count || everywhere) ? 0 : all_clean ? STACK : CLEAN;
}

static void compare_larger(void)
{
    all_clean = true;
    mz_explore_restart(rt.x);
}

static inline __attribute__((always_inline)) void capture(struct state *s, const void *pc, const void *frame)
{
    const struct mz_thread *t = &rt.run.threads[rt.self];
    const char *sp = (const char *)frame + 16;
    s->pc = pc;
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
}

static bool same(const struct state *a, const struct state *b)
{
    if (a->pc != b->pc || a->size != b->size || a->error != b->error || a->held_count != b->held_count)
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
    bool stuck;
} last_round;

/* In a round on trial: is the thread back where it was stopped? */
static void tried(struct mz_spin *s, uint32_t slot, bool changed)
{
    last_round.stuck = !changed && s->stopped && same(&s->states[s->stopped - 1], &s->states[slot]);
    if (last_round.stuck || changed || ++last_round.operations > ROUND) mz_fiber_leave();
}

static bool goes_round_for_ever(int slot)
{
    static struct mz_view view; /* for the next one to be tried, and for the engine when all have been */
    view = rt.view;
    last_round.stuck = false;
    last_round.operations = 0;
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

/* The running thread is about to post an operation on the object, which may be part of a loop that waits. */
void mz_spin(uint64_t key, const void *pc, const void *frame)
{
    struct mz_spin *s = &spins[rt.self];
    uint32_t changes = rt.run.threads[rt.self].changes;
    size_t size = (size_t)(rt.slots[rt.self].stack_high - (const char *)frame);
    if (size > STACK || rt.spin_off) return;
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
    uint32_t slot = s->next;
    if (slot + 1 == s->stopped) slot = (slot + 1) % STATES; /* to compare with, on trial */
    mz_keep(&s->states[slot], offsetof(struct state, stack) + s->states[slot].size);
    capture(&s->states[slot], pc, frame);
    if (slot >= s->count) s->count = slot + 1;
    s->next = (slot + 1) % STATES;
    if (mz_unlikely(rt.trial)) {
        tried(s, slot, changed);
        return;
    }
    int before = find(s, slot);
    if (mz_unlikely(before >= 0) && !lets_go_between(s, (uint32_t)before, slot))
        stop(s, (uint32_t)before, key, pc);
}
