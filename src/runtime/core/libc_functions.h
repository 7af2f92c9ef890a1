/* Calling libc's version of a function that this library defines, too. Any file may call it.
 *
 * Each function of libc.def has a number. symbols.c looks a function up at its first call and keeps its
 * address. */
#ifndef MZ_RUNTIME_CORE_LIBC_FUNCTIONS_H
#define MZ_RUNTIME_CORE_LIBC_FUNCTIONS_H

enum mz_libc_function {
#define OWN(name, ...)   MZ_LIBC_##name,
#define WRAP(name, ...)  MZ_LIBC_##name,
#define POINT(name, ...) MZ_LIBC_##name,
#include "runtime/hooks/libc.def"
    MZ_LIBC_vsscanf, /* not in libc.def: the wrappers of sscanf call it */
    MZ_LIBC_FUNCTIONS
};

void *mz_libc_function(enum mz_libc_function number, const char *name);
/* The function of libc, with the type that the headers declare. */
#define MZ_LIBC(name) ((__typeof__(&name))mz_libc_function(MZ_LIBC_##name, #name))

#endif
