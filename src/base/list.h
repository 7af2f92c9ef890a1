/* A list that owns its strings. After the first addition items[count] is NULL, so that the array can be passed to
 * exec; mz_list_argv() also works for an empty list. A zeroed struct is an empty list. */
#ifndef MZ_BASE_LIST_H
#define MZ_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct mz_list {
    char **items;
    size_t count, capacity;
};

void mz_list_add(struct mz_list *l, const char *text); /* a copy */
void mz_list_addf(struct mz_list *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
void mz_list_take(struct mz_list *l, char *text); /* the list becomes its owner */
void mz_list_append(struct mz_list *l, const struct mz_list *more);
bool mz_list_has(const struct mz_list *l, const char *text);
char **mz_list_argv(struct mz_list *l);
void mz_list_release(struct mz_list *l);

#endif
