/* The stack of a stopped thread as frames of the program, and what matters of each (liveness.c).
 *
 * A thread is stopped in a function of ours: dispatch_reversibly, called by whatever the program has called.
 * Above our frames come those of the program, one above the other as long as they are its own code with frame
 * pointers; of whatever is above the first one that is not, all matters. Which registers matter to a function
 * depends on what matters to its caller, so the outermost is looked at first.
 *
 * Invariants:
 *   I1  A frame pointer is followed only if this library or the program saved it. A system call stops the thread
 *       in the handler of SIGSYS (kernel.c): what the handler saved is rbp of the interrupted code, which is
 *       libc in most cases, and libc uses rbp for anything. The handler returns to mz_signal_return: there the
 *       walk ends, and all above it matters.
 *   I2  No word outside of the thread's stack is read as a frame. */
#include "liveness.h"

#include "kernel.h"

#define MOST_FRAMES 16u

extern const char __start_mz_dispatch_text[], __stop_mz_dispatch_text[];
extern const char __start_mz_fiber_text[], __stop_mz_fiber_text[];

static struct {
    uint64_t start, end;         /* the executable, if it is instrumented */
    uint64_t our_start, our_end; /* this library */
} fr;

void mz_stack_init(void)
{
    mz_our_code(&fr.our_start, &fr.our_end);
    if (!mz_is_instrumented(rt.program_start)) return;
    fr.start = rt.program_start;
    fr.end = rt.program_end;
}

/* The first frame of what stopped the thread. */
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

_Static_assert(sizeof((struct mz_stack *)0)->frames / sizeof(struct mz_frame) == MOST_FRAMES, "room");

/* Does the function with this frame return to another function of ours, which has a frame itself? */
static inline bool is_called_by_ours(const uint64_t *f)
{
    return is_ours(f[1]) && f[1] != (uintptr_t)mz_signal_return;
}

static void find_frames(struct mz_stack *s)
{
    uint64_t pc[MOST_FRAMES];
    const uint64_t *f = s->entered;
    s->count = 0;
    while (s->count < MOST_FRAMES && is_program(f[1])) {
        const uint64_t *low = f + 2, *base = (const uint64_t *)f[0];
        if (!is_frame(s, low, base)) break;
        pc[s->count] = f[1];
        s->frames[s->count++] = (struct mz_frame){low, base, NULL};
        f = base;
    }
    if (f[1] >= (uintptr_t)__start_mz_fiber_text && f[1] < (uintptr_t)__stop_mz_fiber_text)
        s->high = f + 2; /* above is how the thread was started, always the same */
    s->registers = MZ_SURVIVING;
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
        if (!is_frame(s, s->entered + 2, next)) break; /* the first function of the thread */
        s->entered = next;
    }
    find_frames(s);
}

/* ---- for tests ---- */

#define GARBAGE 0xd1ebad0dd1ebad0dull

static void poke(uint64_t *register_, bool live)
{
    if (!live) *register_ = GARBAGE;
}

/* The thread is about to go on from a node. What does not matter may be anything. */
void mz_stack_poke(int slot)
{
    struct mz_stack s;
    struct mz_parked *p = rt.slots[slot].sp;
    if (rt.view.pending[slot].op == MZ_OP_NONE) return;
    mz_stack_of(&s, slot, p);
    poke(&p->rbx, s.registers & 1u << 3);
    poke(&p->r12, s.registers & 1u << 12);
    poke(&p->r13, s.registers & 1u << 13);
    poke(&p->r14, s.registers & 1u << 14);
    poke(&p->r15, s.registers & 1u << 15);
    for (unsigned i = 0; i < s.count; i++) {
        const struct mz_live *l = s.frames[i].live;
        uint64_t *base = (uint64_t *)(uintptr_t)s.frames[i].base;
        for (unsigned w = 0; l && w < l->words; w++) {
            uint64_t *word = base - 1 - w;
            *word = (*word & l->mask[w]) | (GARBAGE & ~l->mask[w]);
        }
    }
}
