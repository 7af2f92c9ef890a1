/* A list of strings: see list.h. */
#include "base/list.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "base/strbuf.h"

static void reserve(struct mz_list *l)
{
    if (l->count + 1 < l->capacity) return;
    l->capacity = l->capacity ? 2 * l->capacity : 16;
    l->items = mz_memory_resize(l->items, l->capacity * sizeof *l->items);
}

void mz_list_take(struct mz_list *l, char *text)
{
    reserve(l);
    l->items[l->count++] = text;
    l->items[l->count] = NULL;
}

void mz_list_add(struct mz_list *l, const char *text) { mz_list_take(l, mz_memory_string(text)); }

void mz_list_addf(struct mz_list *l, const char *format, ...)
{
    struct mz_strbuf b = {0};
    va_list arguments;
    va_start(arguments, format);
    mz_strbuf_addv(&b, format, arguments);
    va_end(arguments);
    mz_list_take(l, mz_strbuf_take(&b));
}

void mz_list_append(struct mz_list *l, const struct mz_list *more)
{
    for (size_t i = 0; i < more->count; i++) mz_list_add(l, more->items[i]);
}

bool mz_list_has(const struct mz_list *l, const char *text)
{
    for (size_t i = 0; i < l->count; i++)
        if (!strcmp(l->items[i], text)) return true;
    return false;
}

char **mz_list_argv(struct mz_list *l)
{
    reserve(l);
    l->items[l->count] = NULL;
    return l->items;
}

void mz_list_release(struct mz_list *l)
{
    for (size_t i = 0; i < l->count; i++) free(l->items[i]);
    free(l->items);
    *l = (struct mz_list){0};
}
