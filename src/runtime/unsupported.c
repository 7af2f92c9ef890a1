/* Calls that are not supported, each refused by name at its first use, with what to do instead. Declared
 * without their parameters, so no header that declares them may be included here. */
#include "runtime.h"

#define UNSUPPORTED(name, instead)                                                                           \
    MZ_EXPORT long name(void);                                                                               \
    long name(void)                                                                                          \
    {                                                                                                        \
        if (!rt.active) return 0;                                                                            \
        mz_unsupported(#name, instead);                                                                      \
    }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wbuiltin-declaration-mismatch"
#include "unsupported.def"
#pragma GCC diagnostic pop
