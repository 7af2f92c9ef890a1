/* The local state of the running thread: what its own future depends on, as long as no other thread does anything.
 *
 * It is: where the thread is (the address that the hook returns to), the object that it is about to use, the registers that
 * survive calls, its stack from that call upwards, errno, the rounding modes, and the locks that it holds.
 *
 * Left out of the stack and the registers:
 *   - bytes that other threads use (lent.c): they are like global variables;
 *   - bytes and registers that the program will not read before it writes them (liveness.c). A compiler
 *     leaves slots of a frame unset while the function calls a hook. Such a slot contains what an earlier
 *     hook left on the stack, and that depends on how the search came here (whether it went back, which steps
 *     it repeats). But the point where a thread stops in a loop must depend only on its own past.
 *
 * The whole runtime is compiled such that it never uses the registers that survive calls (Makefile): in this
 * file they still have the program's values. */
#include "runtime/loops/local.h"
#include "base/mix.h"
#include "runtime/loops/loops.h"
#include "runtime/loops/room.h"
#include "runtime/state/liveness.h"

#include <errno.h>

#define lo mz_loops_room.local

static inline __attribute__((always_inline)) void take_registers(struct mz_local *l, const uint64_t *frame)
{
    l->regs[0] = *frame; /* the caller's frame pointer */
    __asm__ volatile("movq %%rbx, %0\n\tmovq %%r12, %1\n\tmovq %%r13, %2\n\tmovq %%r14, %3\n\tmovq %%r15, %4"
                     : "=m"(l->regs[1]), "=m"(l->regs[2]), "=m"(l->regs[3]), "=m"(l->regs[4]),
                       "=m"(l->regs[5]));
    l->regs[6] = mz_unlikely(rt.switch_fp) ? mz_fiber_environment(rt.self) : 0;
}

static void leave_dead_out(struct mz_local *l, const uint64_t *frame)
{
    static const uint8_t number[] = {3, 12, 13, 14, 15}; /* of regs[1] and the following */
    /* Not on the thread's stack: its contents would stay there. */
    struct mz_stack *s = &lo.stack;
    uint64_t *words = (uint64_t *)(void *)l->stack;
    mz_stack_above(s, rt.self, frame);
    for (unsigned i = 0; i < sizeof number; i++)
        if (!(s->registers >> number[i] & 1)) l->regs[i + 1] = 0;
    for (unsigned i = 0; i < s->count; i++) {
        const struct mz_live *live = s->frames[i].live;
        uint64_t *below = words + (s->frames[i].base - (frame + 2)) - 1;
        for (unsigned w = 0; live && w < live->words; w++) *(below - w) &= live->mask[w];
    }
    if (mz_unlikely(rt.channel->options.poke_dead)) mz_stack_poke_running(s);
}

static void leave_lent_out(struct mz_local *l, const char *sp)
{
    uint64_t *words = (uint64_t *)(void *)l->stack;
    const char *private_high = rt.slots[rt.self].private_high;
    for (uint32_t i = private_high > sp ? (uint32_t)(private_high - sp) / 8 : 0; i < l->size / 8; i++)
        for (uint8_t lent = mz_lent_bytes(sp + i * 8), b = 0; lent >> b; b++)
            if (lent >> b & 1) words[i] &= ~(0xffull << b * 8);
}

void mz_local_capture(struct mz_local *l, uint64_t key, const void *pc, const void *frame)
{
    const struct mz_thread *t = &rt.run.threads[rt.self];
    const char *sp = (const char *)frame + 16;
    l->pc = pc;
    l->key = key;
    take_registers(l, frame);
    l->size = (uint32_t)(rt.slots[rt.self].stack_high - sp);
    l->error = errno;
    l->held_count = t->held_count;
    for (unsigned i = 0; i < t->held_count; i++) l->held[i] = t->held[i];
    const uint64_t *restrict from = (const uint64_t *)(const void *)sp;
    uint64_t *restrict to = (uint64_t *)(void *)l->stack;
    for (uint32_t i = 0; i < l->size / 8; i++) to[i] = from[i];
    leave_dead_out(l, frame);
    if (mz_unlikely(rt.slots[rt.self].private_high != rt.slots[rt.self].stack_high)) leave_lent_out(l, sp);
}

bool mz_local_same(const struct mz_local *a, const struct mz_local *b)
{
    if (a->pc != b->pc || a->key != b->key || a->size != b->size || a->error != b->error ||
        a->held_count != b->held_count)
        return false;
    for (unsigned i = 0; i < MZ_LOCAL_REGS; i++)
        if (a->regs[i] != b->regs[i]) return false;
    for (unsigned i = 0; i < a->held_count; i++)
        if (a->held[i] != b->held[i]) return false;
    const uint64_t *p = (const uint64_t *)(const void *)a->stack,
                   *q = (const uint64_t *)(const void *)b->stack;
    for (uint32_t i = 0; i < a->size / 8; i++)
        if (p[i] != q[i]) return false;
    return true;
}

/* Returns a hash of the running thread's local state. */
uint64_t mz_local_hash(uint64_t key, const void *pc, const void *frame)
{
    struct mz_mix mix = {0};
    mz_raw_memset(&lo.now, 0, offsetof(struct mz_local, stack)); /* unused places for locks, padding */
    mz_local_capture(&lo.now, key, pc, frame);
    uint64_t *end = (uint64_t *)(void *)(lo.now.stack + lo.now.size);
    *end = 0;
    mz_mix_words(&mix, (const uint64_t *)(const void *)&lo.now, end);
    return mix.hash[0] ^ mix.hash[1];
}
