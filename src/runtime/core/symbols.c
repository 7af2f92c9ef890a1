/* Finds the libc functions that our functions of the same names hide, and prints. Any file may call it. */
#define _GNU_SOURCE
#include "runtime/core/room.h"
#include "runtime/kernel/kernel.h"

#include <dlfcn.h>
#include <string.h>

void *mz_libc_function(enum mz_libc_function number, const char *name)
{
    void **f = &mz_core_room.libc[number];
    if (mz_unlikely(!*f)) *f = mz_next_symbol(name);
    return *f;
}

void *mz_next_symbol(const char *name)
{
    void *p = dlsym(RTLD_NEXT, name);
    MZ_ASSERT(p != NULL);
    return p;
}

void mz_print(const char *text) { mz_sys(SYS_write, 2, text, strlen(text)); }
