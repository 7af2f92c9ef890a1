/* The functions of mazurka.h; sched_yield; and random bytes, which are the same in every execution. The
 * program calls them. */
#define _GNU_SOURCE
#include "runtime/core/operation.h"
#include "runtime/hooks/hooks.h"
#include "runtime/kernel/kernel.h"
#include "runtime/loops/loops.h"
#include "runtime/memory/memory.h"

#include <assert.h>

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* ---- mazurka.h ---- */

MZ_EXPORT void mazurka_assert_failed(const char *expression, const char *file, int line,
                                     const char *function);
void mazurka_assert_failed(const char *expression, const char *file, int line, const char *function)
{
    __assert_fail(expression, file, (unsigned)line, function);
}

#define CHOICES 64u /* alternatives of one operation */

static uint64_t choose(uint64_t n, const void *pc, const void *frame)
{
    if (n < 2) return 0;
    rt.view.pending[rt.self] =
        (struct mz_pending){.key = 0,
                            .choices = n == CHOICES ? ~(uint64_t)0 : ((uint64_t)1 << n) - 1,
                            .op = MZ_OP_CHOOSE,
                            .access = MZ_WRITES,
                            .pc = (uintptr_t)pc};
    rt.view.enabled |= (uint64_t)1 << rt.self;
    rt.hooks++;
    mz_dispatch();
    uint64_t value = rt.choice;
    mz_commit(MZ_WRITES, 0);
    MZ_RECORD(MZ_OP_CHOOSE, 0, 0, MZ_RECORD_HAS_VALUE, value, 0, 0, frame);
    return value;
}

/* Choose any of 0 .. n-1. If there are more than CHOICES values, choose a block of values, then a value of
 * the block. */
uint64_t mz_choose_of(uint64_t n, const void *pc, const void *frame)
{
    if (n <= CHOICES) return choose(n, pc, frame);
    uint64_t blocks = n / CHOICES + (n % CHOICES != 0), block = mz_choose_of(blocks, pc, frame);
    uint64_t rest = n - block * CHOICES;
    return block * CHOICES + choose(rest < CHOICES ? rest : CHOICES, pc, frame);
}

MZ_EXPORT unsigned mazurka_choose(unsigned n, const char *file, int line);
unsigned mazurka_choose(unsigned n, const char *file, int line)
{
    (void)file, (void)line;
    return rt.active ? (unsigned)mz_choose_of(n, MZ_PC(), MZ_FRAME()) : 0;
}

/* If the assumption does not hold, end the execution: the thread stops, and the execution has no verdict. */
MZ_EXPORT void mazurka_assume(int holds, const char *file, int line);
void mazurka_assume(int holds, const char *file, int line)
{
    (void)file, (void)line;
    if (holds || !rt.active) return;
    rt.run.failed |= (uint64_t)1 << rt.self;
    mz_halt(MZ_THREAD_EXITING);
}

MZ_EXPORT void mazurka_name(const volatile void *object, const char *name);
void mazurka_name(const volatile void *object, const char *name)
{
    struct mz_channel *c = rt.channel;
    if (!rt.recording || c->name_count == MZ_MAX_NAMES) return;
    struct mz_given_name *n = &c->names[c->name_count++];
    n->address = (uintptr_t)object;
    mz_text_copy(n->name, sizeof n->name, name);
}

/* Not a visible operation: the search lets every other thread run here anyway, in some execution. */
MZ_EXPORT int sched_yield(void)
{
    if (!rt.active) return (int)mz_sys(SYS_sched_yield);
    MZ_SPIN_PASS();
    return 0;
}

/* ---- random bytes ---- */

static __attribute__((noinline)) void fill(unsigned char *to, size_t size, void *pc, const void *frame)
{
    mz_access_by(to, size, true, pc, frame);
    for (size_t i = 0; i < size; i++) to[i] = (unsigned char)(i * 151 + 17);
}

MZ_EXPORT ssize_t getrandom(void *buffer, size_t size, unsigned flags)
{
    (void)flags;
    fill(buffer, size, MZ_PC(), MZ_FRAME());
    return (ssize_t)size;
}
MZ_EXPORT int getentropy(void *buffer, size_t size)
{
    fill(buffer, size, MZ_PC(), MZ_FRAME());
    return 0;
}
