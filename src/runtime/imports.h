/* imports.c: what the modules of the program import. Called by start.c, before the program runs. */
#ifndef MZ_RUNTIME_IMPORTS_H
#define MZ_RUNTIME_IMPORTS_H

#include "runtime.h"

#include <link.h>

struct mz_module;

struct mz_import {
    const char *name;
    struct mz_module *module; /* that imports it */
    const void **address;     /* where the module keeps its address; NULL: a variable that was copied */
    bool by_call;             /* it is certainly a function */
    bool read_only;           /* the address, since the module was loaded */
};

void mz_imports_look(const struct mz_import *i);
void mz_imports_ready(void); /* all have been looked at */
bool mz_imports_harmless_library(const char *path);
const char *mz_imports_called(void); /* an unknown function that the program has called, or NULL */

#endif
