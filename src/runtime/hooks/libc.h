/* libc.c: the table libc.def in memory, and the accesses of a call. Called by imports.c. */
#ifndef MZ_RUNTIME_HOOKS_LIBC_H
#define MZ_RUNTIME_HOOKS_LIBC_H

#include <stdint.h>

struct mz_libc_call {
    const uint64_t *a; /* the first six arguments, without floating-point numbers */
    void *pc;          /* where the function returns to */
    const void *frame; /* of the caller */
};

/* Announce the accesses of a function before the running thread calls it. */
typedef void mz_libc_accesses(const struct mz_libc_call *call);

struct mz_libc_known {
    unsigned state, facts;      /* words of libc_words.h */
    mz_libc_accesses *accesses; /* NULL: its row has none */
};

struct mz_libc_known mz_libc_find(const char *name);

#endif
