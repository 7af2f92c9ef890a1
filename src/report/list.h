/* A list of strings that it owns. items[count] is always NULL once something was added, so that it can be
 * given to exec; mz_list_argv() is right for an empty list too. A zeroed struct is an empty list. */
#ifndef MZ_REPORT_LIST_H
#define MZ_REPORT_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct mz_list {
    char **items;
    size_t count, capacity;
};

void mz_list_add(struct mz_list *l, const char *text); /* a copy */
void mz_list_addf(struct mz_list *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
void mz_list_take(struct mz_list *l, char *text); /* from now on the list's */
void mz_list_append(struct mz_list *l, const struct mz_list *more);
bool mz_list_has(const struct mz_list *l, const char *text);
char **mz_list_argv(struct mz_list *l);
void mz_list_release(struct mz_list *l);

#endif
