/* Functions that are not supported: a call ends the search with the function's name and with what to do
 * instead (the REFUSE rows of libc.def). The functions are declared without their parameters, so this file
 * must not include a header that declares them. */
#include "runtime/core/runtime.h"

#define REFUSE(name, instead, state, facts)                                                                  \
    MZ_EXPORT long name(void);                                                                               \
    long name(void)                                                                                          \
    {                                                                                                        \
        if (!rt.active) return 0;                                                                            \
        mz_unsupported(#name, instead);                                                                      \
    }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wbuiltin-declaration-mismatch"
#include "runtime/hooks/libc.def"
#pragma GCC diagnostic pop
