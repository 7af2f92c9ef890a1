/* Cancellation points that only look and then go on to libc: see pthread_cancel.c.
 *
 * They are declared as functions of six words, which is how the ABI passes what any of them takes (the
 * variable part of open too), so that one definition does for all. So no header that declares them may be
 * included here. */
#define _GNU_SOURCE
#include "runtime.h"
#include "pthread_objects.h"

#define F_LOCK       1
#define F_SETLKW     7
#define F_OFD_SETLKW 38

typedef long point_fn(long a, long b, long c, long d, long e, long f);

#define POINT(name) POINT_IF(name, true)
#define POINT_IF(name, when)                                                                                 \
    MZ_EXPORT point_fn name;                                                                                 \
    long name(long a, long b, long c, long d, long e, long f)                                                \
    {                                                                                                        \
        static point_fn *libc;                                                                               \
        if (!libc) libc = (point_fn *)mz_next_symbol(#name);                                                 \
        if (when) mz_test_cancel(MZ_PC());                                                                   \
        return libc(a, b, c, d, e, f);                                                                       \
    }

#include "cancel_points.def"
