/* Allocation that ends the command when it fails: see memory.h. */
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *checked(void *p)
{
    static const char text[] = "mazurka: out of memory\n";
    if (p) return p;
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0) _exit(2);
    exit(2);
}

void *mz_memory_new(size_t size) { return checked(calloc(1, size ? size : 1)); }

void *mz_memory_resize(void *old, size_t size) { return checked(realloc(old, size ? size : 1)); }

char *mz_memory_stringn(const char *text, size_t length)
{
    char *copy = checked(malloc(length + 1));
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

char *mz_memory_string(const char *text) { return text ? mz_memory_stringn(text, strlen(text)) : NULL; }
