/* Names of C++: see cxx.h. The demangler is the one of the C++ library, loaded when the first name asks for
 * it: mazurka itself needs none, and a program in C++ cannot have run without one. */
#include "report/symbolize/cxx.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

typedef char *demangler(const char *name, char *buffer, size_t *length, int *status);

static demangler *find_demangler(void)
{
    static const char *const libraries[] = {"libstdc++.so.6", "libc++abi.so.1"};
    static demangler *found;
    for (size_t i = 0; !found && i < sizeof libraries / sizeof *libraries; i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL);
        if (library) *(void **)&found = dlsym(library, "__cxa_demangle"); /* as POSIX does it */
    }
    return found;
}

/* Where the bracket that ends at `end` begins; NULL if none does. */
static char *open_bracket(char *text, char *end)
{
    int depth = 0;
    for (char *p = end; p >= text; p--) {
        if (*p == ')') depth++;
        if (*p == '(' && --depth == 0) return p;
    }
    return NULL;
}

/* "int f<int>(int) const" is f<int>: without parameters, what stands behind them, and the type of the result.
 */
static void simplify(char *name)
{
    char *last = strrchr(name, ')'), *first = name;
    char *open = last && !strchr(last, '}') && !strchr(last, '>') ? open_bracket(name, last) : NULL;
    int depth = 0;
    if (open && open > name) *open = '\0';
    if (strstr(name, "operator")) return;
    for (char *p = name; *p; p++) {
        if (strchr("<({", *p)) depth++;
        if (strchr(">)}", *p)) depth--;
        if (*p == ' ' && depth == 0) first = p + 1;
    }
    memmove(name, first, strlen(first) + 1);
}

char *mz_cxx_name(const char *name)
{
    int status = 0;
    demangler *demangle = !strncmp(name, "_Z", 2) ? find_demangler() : NULL;
    char *text = demangle ? demangle(name, NULL, NULL, &status) : NULL;
    if (!text || status != 0) return mz_memory_string(name);
    simplify(text);
    return text;
}

bool mz_cxx_is_library(const char *file)
{
    return strstr(file, "/include/") != NULL && strstr(file, "/c++/") != NULL;
}
