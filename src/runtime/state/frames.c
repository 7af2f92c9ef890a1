/* Divides the stack of a stopped thread into frames of the program, and asks liveness.c which parts of each
 * frame matter.
 *
 * A thread stops in dispatch_reversibly, a function of the runtime, below the hook that the program called.
 * Above the frames of the runtime lie frames of the program. The walk follows them as long as they belong to
 * the program's own code with frame pointers; above the first frame that does not, everything matters. Which
 * registers matter to a function depends on what matters to its caller, so the outermost frame is analysed
 * first.
 *
 * Invariants:
 *   I1  A frame pointer is followed only if this library or the program saved it. A system call stops the
 *       thread in the handler of SIGSYS (kernel.c): the handler saved rbp of the interrupted code. In most
 *       cases this code is libc, and libc uses rbp for any purpose. The handler returns to mz_signal_return:
 *       there the walk ends, and everything above it matters.
 *   I2  No word outside of the thread's stack is read as a frame. */
#include "runtime/kernel/kernel.h"
#include "runtime/state/liveness.h"
#include "runtime/state/room.h"

extern const char __start_mz_dispatch_text[], __stop_mz_dispatch_text[];
extern const char __start_mz_fiber_text[], __stop_mz_fiber_text[];

#define fr mz_state_room.frames

void mz_stack_init(void)
{
    mz_our_code(&fr.our_start, &fr.our_end);
    if (!mz_is_instrumented(rt.program_start)) return;
    fr.start = rt.program_start;
    fr.end = rt.program_end;
}

/* Returns the innermost frame that belongs to the call of the program. */
static const uint64_t *first_frame(const struct mz_parked *p)
{
    const uint64_t *f = (const uint64_t *)p->rbp;
    bool ours = f[1] >= (uintptr_t)__start_mz_dispatch_text && f[1] < (uintptr_t)__stop_mz_dispatch_text;
    return ours ? (const uint64_t *)f[0] : f;
}

static inline bool is_ours(uint64_t pc) { return pc - fr.our_start < fr.our_end - fr.our_start; }

static inline bool is_program(uint64_t pc)
{
    if (mz_likely(pc >= fr.start && pc < fr.end)) return true;
    return !is_ours(pc) && mz_is_instrumented(pc);
}

static inline bool is_frame(const struct mz_stack *s, const uint64_t *low, const uint64_t *base)
{
    return base >= low && base + 2 <= s->high && (uintptr_t)base % 8 == 0;
}

/* Does the function with this frame return to another function of the runtime? That function has a frame,
 * too. */
static inline bool is_called_by_ours(const uint64_t *f)
{
    return is_ours(f[1]) && f[1] != (uintptr_t)mz_signal_return;
}

static void find_frames(struct mz_stack *s)
{
    uint64_t pc[MZ_LIVE_FRAMES];
    const uint64_t *f = s->entered;
    s->count = 0;
    while (s->count < MZ_LIVE_FRAMES && is_program(f[1])) {
        const uint64_t *low = f + 2, *base = (const uint64_t *)f[0];
        if (!is_frame(s, low, base)) break;
        pc[s->count] = f[1];
        s->frames[s->count++] = (struct mz_frame){low, base, NULL};
        f = base;
    }
    if (f[1] >= (uintptr_t)__start_mz_fiber_text && f[1] < (uintptr_t)__stop_mz_fiber_text)
        s->high = f + 2; /* the code above started the thread and is always the same */
    s->registers = MZ_SURVIVING;
    mz_live_walk();
    for (unsigned i = s->count; i--;) {
        struct mz_frame *frame = &s->frames[i];
        frame->live = mz_live_at(pc[i], (const char *)frame->low - (const char *)frame->base, s->registers);
        s->registers = frame->live ? frame->live->registers : MZ_SURVIVING;
    }
}

void mz_stack_of(struct mz_stack *s, int slot, const struct mz_parked *p)
{
    s->high = (const uint64_t *)(const void *)rt.slots[slot].stack_high;
    s->first = s->entered = first_frame(p);
    /* libc may use the frame pointer for something else while it makes a system call. Then all of the stack matters. */
    while (is_called_by_ours(s->entered)) {
        const uint64_t *next = (const uint64_t *)s->entered[0];
        if (!is_frame(s, s->entered + 2, next)) break; /* the outermost function of the thread */
        s->entered = next;
    }
    find_frames(s);
}

void mz_stack_above(struct mz_stack *s, int slot, const uint64_t *frame)
{
    s->high = (const uint64_t *)(const void *)rt.slots[slot].stack_high;
    s->first = s->entered = frame;
    find_frames(s);
}

/* ---- for tests ---- */

/* MAZURKA_POKE_DEAD: overwrite the parts of the stack that do not matter. The result of the search must not
 * change. */
#define GARBAGE 0xd1ebad0dd1ebad0dull

static void poke_frames(const struct mz_stack *s, uint64_t garbage)
{
    for (unsigned i = 0; i < s->count; i++) {
        const struct mz_live *l = s->frames[i].live;
        uint64_t *base = (uint64_t *)(uintptr_t)s->frames[i].base;
        for (unsigned w = 0; l && w < l->words; w++) {
            uint64_t *word = base - 1 - w;
            *word = (*word & l->mask[w]) | (garbage & ~l->mask[w]);
        }
    }
}

static void poke(uint64_t *register_, bool live)
{
    if (!live) *register_ = GARBAGE;
}

/* Overwrites dead parts of the stack of a thread that is about to continue from a node. */
void mz_stack_poke(int slot)
{
    struct mz_stack s;
    struct mz_parked *p = rt.slots[slot].sp;
    uint8_t op = rt.view.pending[slot].op;
    bool within_step = op == MZ_OP_RESUME && !(rt.view.enabled >> slot & 1); /* another thread's step */
    if (op == MZ_OP_NONE || within_step) return;
    mz_stack_of(&s, slot, p);
    poke(&p->rbx, s.registers & 1u << 3);
    poke(&p->r12, s.registers & 1u << 12);
    poke(&p->r13, s.registers & 1u << 13);
    poke(&p->r14, s.registers & 1u << 14);
    poke(&p->r15, s.registers & 1u << 15);
    poke_frames(&s, GARBAGE);
}

/* The same for the running thread, with other values each time. */
void mz_stack_poke_running(const struct mz_stack *s)
{
    uint64_t garbage = mz_ticks() * 0x9e3779b97f4a7c15ull;
    if (!(s->registers & 1u << 3)) __asm__ volatile("movq %0, %%rbx" : : "r"(garbage));
    if (!(s->registers & 1u << 12)) __asm__ volatile("movq %0, %%r12" : : "r"(garbage));
    if (!(s->registers & 1u << 13)) __asm__ volatile("movq %0, %%r13" : : "r"(garbage));
    if (!(s->registers & 1u << 14)) __asm__ volatile("movq %0, %%r14" : : "r"(garbage));
    if (!(s->registers & 1u << 15)) __asm__ volatile("movq %0, %%r15" : : "r"(garbage));
    poke_frames(s, garbage);
}
