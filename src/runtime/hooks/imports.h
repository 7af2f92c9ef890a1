/* imports.c: the functions that the modules of the program import. load.c calls it before the program
 * runs. */
#ifndef MZ_RUNTIME_HOOKS_IMPORTS_H
#define MZ_RUNTIME_HOOKS_IMPORTS_H

#include "runtime/core/runtime.h"

#include <link.h>

struct mz_module;

struct mz_import {
    const char *name;
    struct mz_module *module; /* the importing module */
    const void **address;     /* entry of the module's table of addresses; NULL: a copied variable */
    bool by_call;             /* the program calls it, so it is a function */
    bool read_only;           /* the loader has made the entry read-only */
};

void mz_imports_look(const struct mz_import *i);
void mz_imports_ready(void); /* after the last mz_imports_look: make the stubs executable */
bool mz_imports_harmless_library(const char *path);
const char *mz_imports_called(void); /* an unknown function that the program has called, or NULL */

#endif
