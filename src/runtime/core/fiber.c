/* Fibers: all program threads run as fibers on one OS thread. Any file of the runtime may call mz_fiber_*.
 *
 * Thread-local storage and pthread_self come from real threads. For each slot the runtime starts a thread on
 * its own memory. The thread leaves the kernel without telling libc, so libc believes that it still exists.
 * The slot's fiber runs on the main OS thread with the fs base of that thread. On x86-64 with glibc,
 * pthread_self() is the fs base, and errno, __thread variables and libc's per-thread state are reached
 * through it. Slot 0 (main) uses the storage of the main thread. The explorer, which runs between executions,
 * uses it too.
 *
 * A switch saves the registers that the calling convention requires, and jumps. It uses no call and no
 * return, so the processor's prediction of returns stays correct. A fiber that does not run has at its stack
 * pointer the address to resume at, and its registers (struct mz_parked). The switch changes the
 * floating-point environment only if the program has code that can set it or read it (load.c decides). A new
 * thread inherits the environment.
 *
 * Changing the fs base costs as much as the rest of a switch. If no loaded code can observe it (no
 * thread-local variables, no call of a libc function that may use its own; load.c decides), the switch leaves
 * it alone. Then each thread has an address as its pthread_t, but no storage, and the runtime starts no real
 * threads.
 *
 * Stacks are shifted against each other by a few cache lines. Otherwise the tops of all stacks would compete
 * for the same cache sets. Below each stack is a gap that cannot be accessed. */
#define _GNU_SOURCE
#include "base/region.h"
#include "runtime/core/room.h"
#include "runtime/kernel/kernel.h"
#include "runtime/rewind/rewind.h"

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

/* Push a struct mz_parked. gcc compiles this library without the use of call-saved registers (Makefile), so
 * they still have the program's values. Other compilers cannot do that: then the values have no meaning. */
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

/* Save the stack pointer of the running fiber to *save and switch to the fiber whose stack pointer is
 * `load`. */
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

#define fb mz_core_room.fiber

static void save_fp(struct mz_fp_environment *e)
{
    /* fnstenv masks all exceptions, so load the environment again at once. */
    __asm__ volatile("fnstenv %0\n\tfldenv %0\n\tstmxcsr %1" : "+m"(e->x87), "=m"(e->mxcsr));
}

static void load_fp(const struct mz_fp_environment *e)
{
    __asm__ volatile("fldenv %0\n\tldmxcsr %1" : : "m"(e->x87), "m"(e->mxcsr));
}

static uint64_t get_fs(void)
{
    uint64_t fs;
    __asm__ volatile("movq %%fs:0x10, %0" : "=r"(fs));
    return fs;
}

/* What the real thread of a slot does: store its fs base and thread id, and leave the kernel.
 * SYS_set_tid_address keeps the kernel from clearing the thread id at the end; libc would see from a cleared
 * id that the thread has ended. */
static void *lend_storage(void *slot)
{
    rt.slots[(uintptr_t)slot].fs = get_fs();
    rt.slots[(uintptr_t)slot].tid = (int)mz_sys(SYS_gettid);
    mz_sys(SYS_set_tid_address, 0);
    __atomic_add_fetch(&fb.arrived, 1, __ATOMIC_SEQ_CST);
    mz_sys(SYS_exit, 0);
    return NULL;
}

#define LEAST_STORAGE ((size_t)64 << 10) /* libc's block, thread-local variables, a short stack */
#define MOST_STORAGE  ((size_t)1 << 30)

#define PATIENCE 500000000ull /* ns to retry pthread_create when the limit of threads is reached */

static uint64_t now_ns(void)
{
    struct timespec t = {0};
    mz_sys(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Start the real thread of the slot. Return false if its thread-local variables need more than `size`
 * bytes. */
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
    while (__atomic_load_n(&fb.arrived, __ATOMIC_SEQ_CST) < MZ_SLOTS - 1) mz_sys(SYS_sched_yield);
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

/* Make thread-local storage for all slots, if the program can observe it. Call it when load.c has set
 * rt.switch_fs. */
void mz_fiber_storage(void)
{
    if (rt.switch_fs)
        start_lenders();
    else
        name_without_storage();
}

#define LARGE ((size_t)4 << 30) /* address space for a larger stack; the stack ends where this space ends */

static int stack_protection(void) { return PROT_READ | PROT_WRITE | (fb.executable_stacks ? PROT_EXEC : 0); }

/* The stack of normal size that every slot has. Return its low end, and its high end in *high. */
static char *own_stack(unsigned slot, char **high)
{
    size_t one = STACK_SIZE + GUARD;
    char *base = (char *)fb.stacks + slot * one;
    *high = base + one - (slot * STACK_SHIFT) % (16 * PAGE) / 64 * 64;
    return base + GUARD;
}

static void map_stacks(void)
{
    size_t one = STACK_SIZE + GUARD;
    char *base = mmap(NULL, one * MZ_SLOTS, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    MZ_ASSERT(base != MAP_FAILED);
    fb.stacks = (uintptr_t)base;
    void *room = mmap(NULL, LARGE * MZ_SLOTS, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    MZ_ASSERT(room != MAP_FAILED);
    fb.large = (uintptr_t)room;
    for (unsigned s = 0; s < MZ_SLOTS; s++) rt.slots[s].stack_low = own_stack(s, &rt.slots[s].stack_high);
    for (int s = 0; s < MZ_SLOTS; s++) rt.up.stack_lent(s);
}

/* Make the stacks of slots `first` to `end` - 1 accessible. The gaps below them stay inaccessible. */
void mz_fiber_open(uint32_t first, uint32_t end)
{
    size_t one = STACK_SIZE + GUARD;
    for (uint32_t s = first; s < end; s++)
        MZ_ASSERT(mprotect((char *)fb.stacks + s * one + GUARD, STACK_SIZE, stack_protection()) == 0);
}

/* Give the slot a stack of at least `size` bytes. A stack larger than STACK_SIZE has its own place. The place
 * depends only on the slot and the size, not on earlier executions, so it is the same in every worker of a
 * search. */
void mz_fiber_stack(int slot, size_t size)
{
    char *high = (char *)fb.large + LARGE * ((size_t)slot + 1), *low;
    if (size <= STACK_SIZE - 16 * PAGE) {
        low = own_stack((unsigned)slot, &high);
    } else {
        size = (size + PAGE - 1) / PAGE * PAGE;
        if (size > LARGE - GUARD) mz_unsupported("a stack of 4 GiB or more", "ask for less");
        low = high - size;
    }
    if (mz_likely(low == rt.slots[slot].stack_low)) return;
    if (size > STACK_SIZE - 16 * PAGE) MZ_ASSERT(mprotect(low, size, stack_protection()) == 0);
    if (size > STACK_SIZE - 16 * PAGE) MZ_ASSERT(mprotect(low - GUARD, GUARD, PROT_NONE) == 0);
    rt.slots[slot].stack_low = low;
    rt.slots[slot].stack_high = high;
    rt.up.stack_lent(slot);
    mz_fiber_prepare(slot);
}

void mz_fiber_stacks(bool of_large, uint64_t *start, uint64_t *size)
{
    *start = of_large ? fb.large : fb.stacks;
    *size = (of_large ? LARGE : STACK_SIZE + GUARD) * MZ_SLOTS;
}

/* The ELF headers of a program say whether it executes code on its stacks (GNU nested functions). */
static int look_for_stack(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_GNU_STACK && (info->dlpi_phdr[i].p_flags & PF_X))
            fb.executable_stacks = true;
    return 0;
}

/* The kernel gives every process another value for stack protectors, which would be a part of each state: then workers of a
 * stateful search would have no states in common. Threads get the value from the thread that creates them. No function that
 * has read the old value returns any more. */
static void fix_stack_protector(void)
{
    __asm__ volatile("movq %0, %%fs:0x28" : : "r"(0x9e3779b97f4a7c00ull));
}

void mz_fiber_init(void)
{
    fix_stack_protector();
    dl_iterate_phdr(look_for_stack, NULL);
    rt.fsgsbase = getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE_BIT;
    map_stacks();
    rt.explorer_fs = get_fs();
    rt.slots[0].tid = (int)mz_sys(SYS_gettid);
    save_fp(&fb.first_environment);
    for (int s = 0; s < 3; s++) rt.slots[s].fs = rt.explorer_fs; /* to measure with */
    mz_fiber_open(0, 3);
    rt.switch_fs = true;
    rt.switch_ns = mz_fiber_measure();
    rt.switch_fs = false;
}

/* Where a fiber starts: clear the registers, so that they do not depend on the fiber that ran before, and
 * jump to the address on the stack. */
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

/* Make the slot's fiber ready to start with `code`. At the first instruction of a function the stack pointer
 * must be a multiple of 16, plus 8. */
static void prepare(int slot, void (*code)(void))
{
    void **top = (void **)(void *)(rt.slots[slot].stack_high - 64);
    *--top = 0; /* in place of a return address: the end of the call stack */
    *--top = (void *)code;
    *--top = (void *)start;
    rt.slots[slot].sp = top;
}

void mz_fiber_prepare(int slot)
{
    rt.up.stack_clean(slot);
    prepare(slot, rt.up.fiber_main);
    if (rt.switch_fp) save_fp(&fb.environments[slot]);
}

#define TIDIED 512 /* bytes; 256 are not enough (tests/programs/state_below_stack.c) */

/* Clear the memory below the stack pointer. Nothing there is alive when the thread goes on. But values that
 * the runtime left there would appear in uninitialised variables of the program, and make equal states differ
 * (state.c). */
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

#define BELOW_CALLS 4096 /* bytes; more than the runtime's own calls need */

/* The frame of this function itself, and the red zone that the compiler may use, are left to tidy(). */
__attribute__((noinline)) void mz_fiber_clear_below(void)
{
    char *high = (char *)MZ_FRAME() - TIDIED / 2, *low = high - BELOW_CALLS;
    if (low < rt.slots[rt.self].stack_low) low = rt.slots[rt.self].stack_low;
    if (low < high) mz_raw_memset(low, 0, (size_t)(high - low));
    tidy();
}

/* Keep the slot's floating-point environment in the undo log. For states, clear the memory below the stack of
 * a fiber that does not run. */
void mz_fiber_keep(int slot)
{
    if (rt.switch_fp) mz_keep(&fb.environments[slot], sizeof fb.environments[slot]);
    if (mz_likely(!rt.hashing) || mz_fiber_stack_contains(slot, (uintptr_t)MZ_FRAME())) return;
    mz_raw_memset((char *)rt.slots[slot].sp - TIDIED, 0, TIDIED); /* state.c */
}

/* Return the control and status words of the slot's fiber. The words of the running fiber are in the
 * processor. */
uint64_t mz_fiber_environment(int slot)
{
    struct mz_fp_environment e = fb.environments[slot];
    if (slot == rt.self) save_fp(&e);
    return (uint64_t)e.mxcsr << 32 | (uint64_t)e.x87[5] << 24 | (uint64_t)e.x87[4] << 16 |
           (uint64_t)e.x87[1] << 8 | e.x87[0];
}

__attribute__((used)) static void keep_self(void) { mz_undo_stack(rt.self); }

/* Save the running fiber as if it gave way here and ran again at once. The undo log keeps its stack, so the
 * search can go back and enter the fiber at this point again. */
__attribute__((noinline)) void mz_fiber_mark(void)
{
    if (rt.switch_fp) save_fp(&fb.environments[rt.self]);
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
        save_fp(&fb.environments[rt.self]);
        load_fp(&fb.environments[slot]);
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
    if (rt.switch_fp) load_fp(&fb.environments[slot]);
    if (rt.switch_fs) set_fs(rt.slots[slot].fs);
    switch_to(&rt.explorer_sp, rt.slots[slot].sp);
    rt.active = false;
}

/* Switch from the running fiber to the explorer. The explorer may enter the fiber again. */
__attribute__((noinline)) void mz_fiber_pause(void)
{
    if (rt.switch_fp) {
        save_fp(&fb.environments[rt.self]);
        load_fp(&fb.first_environment);
    }
    if (rt.switch_fs) set_fs(rt.explorer_fs);
    switch_to(&rt.slots[rt.self].sp, rt.explorer_sp);
}

_Noreturn void mz_fiber_leave(void)
{
    if (rt.switch_fp) load_fp(&fb.first_environment);
    if (rt.switch_fs) set_fs(rt.explorer_fs);
    switch_to(&rt.slots[rt.self].sp, rt.explorer_sp); /* saved only so that reports can show where it was */
    __builtin_unreachable();
}

bool mz_fiber_stack_contains(int slot, uint64_t address)
{
    return address >= (uintptr_t)rt.slots[slot].stack_low && address < (uintptr_t)rt.slots[slot].stack_high;
}

int mz_fiber_stack_owner(uint64_t address)
{
    uint64_t offset = address - fb.stacks;
    if (mz_likely(offset < (STACK_SIZE + GUARD) * MZ_SLOTS)) return (int)(offset / (STACK_SIZE + GUARD));
    offset = address - fb.large;
    return offset < LARGE * MZ_SLOTS ? (int)(offset / LARGE) : -1;
}

bool mz_fiber_guard_contains(int slot, uint64_t address)
{
    uint64_t low = (uintptr_t)rt.slots[slot].stack_low;
    return address < low && address >= low - GUARD;
}

/* Measuring the cost of a switch to another fiber and back, including thread-local storage, for `make
 * bench`. */
static void bounce_back(void)
{
    for (;;) mz_fiber_go(1);
}

static void count_bounces(void)
{
    while (--fb.bounces) mz_fiber_go(2);
    mz_fiber_leave();
}

#define BOUNCES 200

double mz_fiber_measure(void)
{
    double best = 1e9;
    for (int round = 0; round < 5; round++) {
        fb.bounces = BOUNCES;
        prepare(1, count_bounces);
        prepare(2, bounce_back);
        uint64_t start = now_ns();
        mz_fiber_enter(1);
        double ns = (double)(now_ns() - start) / BOUNCES;
        if (ns < best) best = ns;
    }
    return best;
}

/* ---- thread-local storage ---- */

/* Compute the address range of the storage of all threads. Call it after mz_snapshot_init, which finds out
 * the size. */
void mz_fiber_tls_init(void)
{
    rt.tls_low = ~0ull;
    for (int s = 0; s < MZ_SLOTS; s++) {
        if (rt.slots[s].fs - rt.tls_size < rt.tls_low) rt.tls_low = rt.slots[s].fs - rt.tls_size;
        if (rt.slots[s].fs > rt.tls_high) rt.tls_high = rt.slots[s].fs;
    }
}

int mz_fiber_tls_owner(uint64_t address)
{
    if (address < rt.tls_low || address >= rt.tls_high) return -1;
    for (int s = 0; s < MZ_SLOTS; s++)
        if (address < rt.slots[s].fs && address >= rt.slots[s].fs - rt.tls_size) return s;
    return -1;
}

/* ---- calls aside ---- */

#define ASIDE ((size_t)1 << 20)

static void *storage_now(void)
{
    void *fs;
    __asm__ volatile("movq %%fs:0, %0" : "=r"(fs)); /* the thread pointer points to itself */
    return fs;
}

/* The function runs within the step of another thread, or between executions. It gets another stack, so that it leaves
 * nothing on those of the program. */
int mz_fiber_call(int slot, int (*function)(void *), void *argument)
{
    int result;
    if (mz_unlikely(!fb.aside)) {
        char *low = mz_region_reserve(ASIDE);
        MZ_ASSERT(low != NULL);
        fb.aside = low + ASIDE;
    }
    uint64_t before = rt.switch_fs ? (uintptr_t)storage_now() : 0;
    char *top = fb.aside;
    if (rt.switch_fs) set_fs(rt.slots[slot].fs);
    __asm__ volatile("movq %%rsp, -8(%1)\n\t"
                     "leaq -16(%1), %%rsp\n\t"
                     "call *%2\n\t"
                     "movq 8(%%rsp), %%rsp"
                     : "=a"(result), "+S"(top), "+d"(function), "+D"(argument)
                     :
                     : "rcx", "r8", "r9", "r10", "r11", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3",
                       "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
                       "xmm14", "xmm15");
    if (rt.switch_fs) set_fs(before);
    return result;
}
