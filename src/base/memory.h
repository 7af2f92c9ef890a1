/* Allocation for the command (never for the target). No function here returns NULL: when memory runs out, the
 * command says so in one line and exits with status 2. */
#ifndef MZ_BASE_MEMORY_H
#define MZ_BASE_MEMORY_H

#include <stddef.h>

void *mz_memory_new(size_t size); /* zeroed */
void *mz_memory_resize(void *old, size_t size);
char *mz_memory_string(const char *text); /* a copy; NULL stays NULL */
char *mz_memory_stringn(const char *text, size_t length);

/* Make room for one more element in a growing array: items, count and capacity are lvalues. */
#define MZ_GROW(items, count, capacity)                                                                      \
    do {                                                                                                     \
        if ((count) == (capacity)) {                                                                         \
            (capacity) = (capacity) ? 2 * (capacity) : 16;                                                   \
            (items) = mz_memory_resize((items), (capacity) * sizeof *(items));                               \
        }                                                                                                    \
    } while (0)

#endif
