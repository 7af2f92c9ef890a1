/* Functions of libc that are cancellation points because they may block in the kernel: the POINT rows of
 * libc.def. Each function tests for a cancellation (cancel.c) and then calls libc's function. POSIX (2.9.5.2)
 * lists the cancellation points, and Linux has more. Calls compiled with _FORTIFY_SOURCE use the names with
 * _chk or _2. The cancellation points that announce accesses are in hooks/stdio.c and kernel/signal_calls.c.
 *
 * All functions are declared with six words as parameters: the ABI passes the arguments of each of them in
 * this way, the variable arguments of open included. So one definition serves all functions. This file must
 * not include a header that declares them. */
#define _GNU_SOURCE
#include "runtime/core/libc_functions.h"
#include "runtime/core/runtime.h"
#include "runtime/sync/sync.h"

#define F_LOCK       1
#define F_SETLKW     7
#define F_OFD_SETLKW 38

typedef long point_fn(long a, long b, long c, long d, long e, long f);

#define POINT(name, when, ...)                                                                               \
    MZ_EXPORT point_fn name;                                                                                 \
    long name(long a, long b, long c, long d, long e, long f)                                                \
    {                                                                                                        \
        if (when) mz_test_cancel(MZ_PC());                                                                   \
        return ((point_fn *)mz_libc_function(MZ_LIBC_##name, #name))(a, b, c, d, e, f);                      \
    }

#include "runtime/hooks/libc.def"
