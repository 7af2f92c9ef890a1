/* Fibers: program threads on one OS thread.
 *
 * Thread-local storage and pthread_self come from real threads: for each slot one was started, on memory of
 * ours, and has left the kernel without telling libc, for which it is still there. Its fiber runs on the main
 * OS thread with that thread's fs base. On x86-64 glibc
 * pthread_self() is just that address, and errno, __thread variables and libc's own per-thread state are
 * reached through it. Slot 0 (main) uses the storage of the main thread itself; the explorer, which runs
 * between executions, uses it too.
 *
 * A switch saves what the compiler's calling convention requires and jumps: no call and no return, so the
 * processor's prediction of returns stays in step. A fiber that does not run has, at its stack pointer, the
 * address to go on from and its registers. The floating-point environment is only switched if the program
 * has anything that could set it or look at it (start.c decides); a new thread inherits it.
 *
 * Changing the fs base costs as much as the rest of a switch. If nothing that is loaded can tell threads
 * apart by it (no thread-local variables, no call of libc that might use its own; start.c decides), it is
 * left alone; then threads have addresses to be known by, but no storage, and no real thread is started.
 *
 * Stacks are shifted against each other by a few cache lines, or the tops of all would compete for the same
 * cache sets. Below each stack lies a gap that nobody may touch. */
#define _GNU_SOURCE
#include "kernel.h"

#include "../base/region.h"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <asm/prctl.h>

#define STACK_SIZE          ((size_t)8 << 20)
#define STACK_SHIFT         1088u /* 17 cache lines */
#define PAGE                4096u
#define GUARD               ((size_t)64 << 20) /* larger than any sensible frame */
#define HWCAP2_FSGSBASE_BIT 2u

static inline void set_fs(uint64_t fs)
{
    if (mz_likely(rt.fsgsbase))
        __asm__ volatile("wrfsbase %0" : : "r"(fs) : "memory");
    else
        mz_sys(SYS_arch_prctl, ARCH_SET_FS, fs);
}

/* What a fiber that does not run has at its stack pointer: struct mz_parked. This library is compiled not to
 * use the registers that survive calls (Makefile), so they are still the program's; other compilers than gcc
 * cannot do that, then they are just some values. */
#define PUSH_REGISTERS                                                                                       \
    "pushq %%rbx\n\t"                                                                                        \
    "pushq %%r12\n\t"                                                                                        \
    "pushq %%r13\n\t"                                                                                        \
    "pushq %%r14\n\t"                                                                                        \
    "pushq %%r15\n\t"                                                                                        \
    "pushq %%rbp\n\t"                                                                                        \
    "leaq 1f(%%rip), %%rax\n\t"                                                                              \
    "pushq %%rax\n\t"
#define POP_REGISTERS                                                                                        \
    "popq %%rbp\n\t"                                                                                         \
    "popq %%r15\n\t"                                                                                         \
    "popq %%r14\n\t"                                                                                         \
    "popq %%r13\n\t"                                                                                         \
    "popq %%r12\n\t"                                                                                         \
    "popq %%rbx"
#define CLOBBERED                                                                                            \
    "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4",   \
        "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"

/* Save the running fiber to *save and go on with the one whose stack pointer is load. */
static inline __attribute__((always_inline)) void switch_to(void **save, void *load)
{
    __asm__ volatile(PUSH_REGISTERS "movq %%rsp, (%0)\n\t"
                                    "movq %1, %%rsp\n\t"
                                    "popq %%rax\n\t"
                                    "jmp *%%rax\n"
                                    "1:\n\t" POP_REGISTERS
                     : "+D"(save), "+S"(load)
                     :
                     : CLOBBERED);
}

static struct environment {
    unsigned char x87[28];
    uint32_t mxcsr;
} environments[MZ_SLOTS], first_environment;

static void save_fp(struct environment *e)
{
    /* fnstenv masks all exceptions, so the environment is loaded again at once. */
    __asm__ volatile("fnstenv %0\n\tfldenv %0\n\tstmxcsr %1" : "+m"(e->x87), "=m"(e->mxcsr));
}

static void load_fp(const struct environment *e)
{
    __asm__ volatile("fldenv %0\n\tldmxcsr %1" : : "m"(e->x87), "m"(e->mxcsr));
}

static uint64_t get_fs(void)
{
    uint64_t fs;
    __asm__ volatile("movq %%fs:0x10, %0" : "=r"(fs));
    return fs;
}

static volatile uint32_t arrived; /* number of threads whose storage is ready */

/* The kernel is not to clear the number of the thread when it ends, by which libc would see that it has. */
static void *lend_storage(void *slot)
{
    rt.slots[(uintptr_t)slot].fs = get_fs();
    rt.slots[(uintptr_t)slot].tid = (int)mz_sys(SYS_gettid);
    mz_sys(SYS_set_tid_address, 0);
    __atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST);
    mz_sys(SYS_exit, 0);
    return NULL;
}

#define LEAST_STORAGE ((size_t)64 << 10) /* of a thread: its block of libc, its variables, a short stack */
#define MOST_STORAGE  ((size_t)1 << 30)

#define PATIENCE 500000000ull /* ns, for others to leave the kernel where only few may be there */

static uint64_t now_ns(void)
{
    struct timespec t;
    mz_sys(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* False: its variables need more. */
static bool start_lender(uintptr_t slot, char *storage, size_t size)
{
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = (int (*)(
        pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))mz_next_symbol("pthread_create");
    pthread_attr_t attr;
    pthread_t ignored;
    pthread_attr_init(&attr);
    int error = pthread_attr_setstack(&attr, storage, size);
    if (!error) error = create(&ignored, &attr, lend_storage, (void *)slot);
    for (uint64_t since = now_ns(); error == EAGAIN && now_ns() - since < PATIENCE;) {
        mz_sys(SYS_sched_yield);
        error = create(&ignored, &attr, lend_storage, (void *)slot);
    }
    pthread_attr_destroy(&attr);
    if (error && error != EINVAL) mz_unsupported("a limit of threads this low", "raise it (ulimit -u)");
    return !error;
}

static void start_lenders(void)
{
    uint64_t all = ~0ull, before;
    size_t size = LEAST_STORAGE;
    char *storage = mz_region_reserve(size * MZ_SLOTS);
    mz_sys(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
    while (storage && !start_lender(1, storage + size, size)) {
        mz_region_free(storage, size * MZ_SLOTS);
        MZ_ASSERT(size < MOST_STORAGE);
        size *= 4;
        storage = mz_region_reserve(size * MZ_SLOTS);
    }
    MZ_ASSERT(storage != NULL);
    for (uintptr_t s = 2; s < MZ_SLOTS; s++) MZ_ASSERT(start_lender(s, storage + s * size, size));
    mz_sys(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
    while (__atomic_load_n(&arrived, __ATOMIC_SEQ_CST) < MZ_SLOTS - 1) mz_sys(SYS_sched_yield);
}

static void name_without_storage(void)
{
    uintptr_t names = (uintptr_t)mz_region_reserve(MZ_SLOTS * MZ_NAME_ROOM);
    MZ_ASSERT(names != 0);
    for (uint32_t s = 1; s < MZ_SLOTS; s++) {
        rt.slots[s].fs = names + (s + 1) * MZ_NAME_ROOM - PAGE;
        rt.slots[s].tid = rt.slots[0].tid + (int)s;
    }
}

/* When it is known whether it will be used. */
void mz_fiber_storage(void)
{
    if (rt.switch_fs)
        start_lenders();
    else
        name_without_storage();
}

static int protection = PROT_READ | PROT_WRITE; /* of stacks */

static uintptr_t stacks; /* of all slots, with their gaps */
static uintptr_t large;  /* room for larger ones, which end where their slot's room does */
#define LARGE ((size_t)4 << 30)

/* The stack that every slot has; returns its low end. */
static char *own_stack(unsigned slot, char **high)
{
    size_t one = STACK_SIZE + GUARD;
    char *base = (char *)stacks + slot * one;
    *high = base + one - (slot * STACK_SHIFT) % (16 * PAGE) / 64 * 64;
    return base + GUARD;
}

static void map_stacks(void)
{
    size_t one = STACK_SIZE + GUARD;
    char *base = mmap(NULL, one * MZ_SLOTS, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    MZ_ASSERT(base != MAP_FAILED);
    stacks = (uintptr_t)base;
    void *room = mmap(NULL, LARGE * MZ_SLOTS, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    MZ_ASSERT(room != MAP_FAILED);
    large = (uintptr_t)room;
    for (unsigned s = 0; s < MZ_SLOTS; s++) rt.slots[s].stack_low = own_stack(s, &rt.slots[s].stack_high);
    for (int s = 0; s < MZ_SLOTS; s++) mz_lent_stack(s);
}

/* Those of these slots can be used from now on; what is below them cannot. */
void mz_fiber_open(uint32_t first, uint32_t end)
{
    size_t one = STACK_SIZE + GUARD;
    for (uint32_t s = first; s < end; s++)
        MZ_ASSERT(mprotect((char *)stacks + s * one + GUARD, STACK_SIZE, protection) == 0);
}

/* A thread that asks for a larger stack than ours gets one of its own. Where it lies depends on the slot and
 * the size only, so that it is the same in every worker of a search, whatever the slot had in the execution
 * before. */
void mz_fiber_stack(int slot, size_t size)
{
    char *high = (char *)large + LARGE * ((size_t)slot + 1), *low;
    if (size <= STACK_SIZE - 16 * PAGE) {
        low = own_stack((unsigned)slot, &high);
    } else {
        size = (size + PAGE - 1) / PAGE * PAGE;
        if (size > LARGE - GUARD) mz_unsupported("a stack of 4 GiB or more", "ask for less");
        low = high - size;
    }
    if (mz_likely(low == rt.slots[slot].stack_low)) return;
    if (size > STACK_SIZE - 16 * PAGE) MZ_ASSERT(mprotect(low, size, protection) == 0);
    if (size > STACK_SIZE - 16 * PAGE) MZ_ASSERT(mprotect(low - GUARD, GUARD, PROT_NONE) == 0);
    rt.slots[slot].stack_low = low;
    rt.slots[slot].stack_high = high;
    mz_lent_stack(slot);
    mz_fiber_prepare(slot);
}

void mz_fiber_stacks(bool of_large, uint64_t *start, uint64_t *size)
{
    *start = of_large ? large : stacks;
    *size = (of_large ? LARGE : STACK_SIZE + GUARD) * MZ_SLOTS;
}

/* A program that needs to execute code on its stacks (GNU nested functions) says so in its headers. */
static int look_for_stack(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_GNU_STACK && (info->dlpi_phdr[i].p_flags & PF_X))
            protection |= PROT_EXEC;
    return 0;
}

void mz_fiber_init(void)
{
    dl_iterate_phdr(look_for_stack, NULL);
    rt.fsgsbase = getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE_BIT;
    map_stacks();
    rt.explorer_fs = get_fs();
    rt.slots[0].tid = (int)mz_sys(SYS_gettid);
    save_fp(&first_environment);
    for (int s = 0; s < 3; s++) rt.slots[s].fs = rt.explorer_fs; /* to measure with */
    mz_fiber_open(0, 3);
    rt.switch_fs = true;
    rt.switch_ns = mz_fiber_measure();
    rt.switch_fs = false;
}

/* Where a fiber starts: with registers that do not tell who ran before it, then on to the address on its
 * stack. */
__attribute__((naked)) static void start(void)
{
    __asm__ volatile("xorl %ebx, %ebx\n\t"
                     "xorl %ebp, %ebp\n\t"
                     "xorl %r12d, %r12d\n\t"
                     "xorl %r13d, %r13d\n\t"
                     "xorl %r14d, %r14d\n\t"
                     "xorl %r15d, %r15d\n\t"
                     "ret");
}

/* Make the slot's fiber ready to start with `code`. At a function's first instruction the stack pointer is 8
 * off a multiple of 16. */
static void prepare(int slot, void (*code)(void))
{
    void **top = (void **)(void *)(rt.slots[slot].stack_high - 64);
    *--top = 0; /* where a return address would be: the chain of frames ends */
    *--top = (void *)code;
    *--top = (void *)start;
    rt.slots[slot].sp = top;
}

void mz_fiber_prepare(int slot)
{
    mz_spin_clean(rt.slots[slot].stack_high);
    prepare(slot, mz_fiber_main);
    if (rt.switch_fp) save_fp(&environments[slot]);
}

#define TIDIED 512 /* bytes; with 256 some were left (tests/programs/state_below_stack.c) */

/* Nothing below is alive when a thread goes on. What we have left there would be found in the variables of
 * the program before they are set, and tell states apart that are the same (state.c). */
static inline __attribute__((always_inline)) void tidy(void)
{
    __asm__ volatile("pxor %%xmm0, %%xmm0\n\t"
                     "leaq %c[most](%%rsp), %%rdi\n"
                     "1:\n\t"
                     "movups %%xmm0, (%%rdi)\n\t"
                     "movups %%xmm0, 16(%%rdi)\n\t"
                     "movups %%xmm0, 32(%%rdi)\n\t"
                     "movups %%xmm0, 48(%%rdi)\n\t"
                     "addq $64, %%rdi\n\t"
                     "cmpq %%rsp, %%rdi\n\t"
                     "jb 1b"
                     :
                     : [most] "i"(-TIDIED)
                     : "rdi", "xmm0", "cc", "memory");
}

/* Its floating-point environment is as the fiber left it. */
void mz_fiber_keep(int slot)
{
    if (rt.switch_fp) mz_keep(&environments[slot], sizeof environments[slot]);
    if (mz_likely(!rt.hashing) || mz_fiber_stack_contains(slot, (uintptr_t)MZ_FRAME())) return;
    mz_raw_memset((char *)rt.slots[slot].sp - TIDIED, 0, TIDIED); /* state.c */
}

/* The control and status words. Of the running fiber they are in the processor. */
uint64_t mz_fiber_environment(int slot)
{
    struct environment e = environments[slot];
    if (slot == rt.self) save_fp(&e);
    return (uint64_t)e.mxcsr << 32 | (uint64_t)e.x87[5] << 24 | (uint64_t)e.x87[4] << 16 |
           (uint64_t)e.x87[1] << 8 | e.x87[0];
}

__attribute__((used)) static void keep_self(void) { mz_undo_stack(rt.self); }

/* As if it went away here and was continued at once: its stack can be put back to what it is now, and the
 * fiber entered again. */
__attribute__((noinline)) void mz_fiber_mark(void)
{
    if (rt.switch_fp) save_fp(&environments[rt.self]);
    __asm__ volatile(PUSH_REGISTERS "movq %%rsp, (%0)\n\t"
                                    "movq %%rsp, %%rbx\n\t"
                                    "andq $-16, %%rsp\n\t"
                                    "call keep_self\n\t"
                                    "movq %%rbx, %%rsp\n\t"
                                    "popq %%rax\n"
                                    "1:\n\t" POP_REGISTERS
                     :
                     : "D"(&rt.slots[rt.self].sp)
                     : "rsi", CLOBBERED);
    if (mz_unlikely(rt.hashing)) tidy();
}

__attribute__((noinline)) void mz_fiber_go(int slot)
{
    void **save = &rt.slots[rt.self].sp;
    if (mz_unlikely(rt.undo)) mz_undo_stack(slot);
    if (mz_unlikely(rt.switch_fp)) {
        save_fp(&environments[rt.self]);
        load_fp(&environments[slot]);
    }
    rt.self = (uint8_t)slot;
    if (rt.switch_fs) set_fs(rt.slots[slot].fs);
    switch_to(save, rt.slots[slot].sp);
}

__attribute__((noinline)) void mz_fiber_enter(int slot)
{
    if (mz_unlikely(rt.undo)) mz_undo_stack(slot);
    rt.self = (uint8_t)slot;
    rt.active = true;
    if (rt.switch_fp) load_fp(&environments[slot]);
    if (rt.switch_fs) set_fs(rt.slots[slot].fs);
    switch_to(&rt.explorer_sp, rt.slots[slot].sp);
    rt.active = false;
}

/* The same, but it can be entered again. */
__attribute__((noinline)) void mz_fiber_pause(void)
{
    if (rt.switch_fp) {
        save_fp(&environments[rt.self]);
        load_fp(&first_environment);
    }
    if (rt.switch_fs) set_fs(rt.explorer_fs);
    switch_to(&rt.slots[rt.self].sp, rt.explorer_sp);
}

_Noreturn void mz_fiber_leave(void)
{
    if (rt.switch_fp) load_fp(&first_environment);
    if (rt.switch_fs) set_fs(rt.explorer_fs);
    switch_to(&rt.slots[rt.self].sp, rt.explorer_sp); /* saved only to show where it was */
    __builtin_unreachable();
}

bool mz_fiber_stack_contains(int slot, uint64_t address)
{
    return address >= (uintptr_t)rt.slots[slot].stack_low && address < (uintptr_t)rt.slots[slot].stack_high;
}

int mz_fiber_stack_owner(uint64_t address)
{
    uint64_t offset = address - stacks;
    if (mz_likely(offset < (STACK_SIZE + GUARD) * MZ_SLOTS)) return (int)(offset / (STACK_SIZE + GUARD));
    offset = address - large;
    return offset < LARGE * MZ_SLOTS ? (int)(offset / LARGE) : -1;
}

bool mz_fiber_guard_contains(int slot, uint64_t address)
{
    uint64_t low = (uintptr_t)rt.slots[slot].stack_low;
    return address < low && address >= low - GUARD;
}

/* Cost of a switch to another fiber and back, thread-local storage included: the yardstick of `make bench`.
 */
static void bounce_back(void)
{
    for (;;) mz_fiber_go(1);
}

static uint32_t bounces;
static void count_bounces(void)
{
    while (--bounces) mz_fiber_go(2);
    mz_fiber_leave();
}

#define BOUNCES 200

double mz_fiber_measure(void)
{
    double best = 1e9;
    for (int round = 0; round < 5; round++) {
        bounces = BOUNCES;
        prepare(1, count_bounces);
        prepare(2, bounce_back);
        uint64_t start = now_ns();
        mz_fiber_enter(1);
        double ns = (double)(now_ns() - start) / BOUNCES;
        if (ns < best) best = ns;
    }
    return best;
}
