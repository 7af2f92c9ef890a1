/* The parts of libc that a checked program must not reach directly: randomness. And the
 * calls of mazurka.h. */
#define _GNU_SOURCE
#include "kernel.h"

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

MZ_EXPORT unsigned mazurka_choose(unsigned n, const char *file, int line);
unsigned mazurka_choose(unsigned n, const char *file, int line)
{
    (void)file, (void)line;
    if (!rt.active || n < 2) return 0;
    if (n > 64) mz_unsupported("mz_choose of more than 64 values", "combine two smaller choices");
    rt.view.pending[rt.self] = (struct mz_pending){.key = 0,
                                                   .choices = n == 64 ? ~(uint64_t)0 : ((uint64_t)1 << n) - 1,
                                                   .op = MZ_OP_CHOOSE,
                                                   .access = MZ_WRITES,
                                                   .pc = (uintptr_t)MZ_PC()};
    rt.view.enabled |= (uint64_t)1 << rt.self;
    rt.hooks++;
    mz_dispatch();
    unsigned value = rt.choice;
    mz_commit(MZ_WRITES, 0);
    MZ_RECORD(MZ_OP_CHOOSE, 0, 0, MZ_RECORD_HAS_VALUE, value, 0, 0, MZ_FRAME());
    return value;
}

/* An execution in which the assumption does not hold is left out: its thread goes no further, and how the
 * execution ends says nothing. */
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

/* Every other thread gets its turn in some execution anyway. */
MZ_EXPORT int sched_yield(void)
{
    if (!rt.active) return (int)mz_sys(SYS_sched_yield);
    rt.hooks++;
    return 0;
}

/* ---- other sources of difference between runs ---- */

MZ_EXPORT ssize_t getrandom(void *buffer, size_t size, unsigned flags)
{
    (void)flags;
    for (size_t i = 0; i < size; i++) ((unsigned char *)buffer)[i] = (unsigned char)(i * 151 + 17);
    return (ssize_t)size;
}
MZ_EXPORT int getentropy(void *buffer, size_t size)
{
    getrandom(buffer, size, 0);
    return 0;
}
