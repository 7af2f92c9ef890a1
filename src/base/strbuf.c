/* A string that grows: see strbuf.h. */
#include "base/strbuf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

static void reserve(struct mz_strbuf *b, size_t more)
{
    size_t need = b->length + more + 1;
    if (need <= b->capacity) return;
    b->capacity = need < 64 ? 64 : need * 2;
    b->data = mz_memory_resize(b->data, b->capacity);
}

void mz_strbuf_addn(struct mz_strbuf *b, const void *data, size_t length)
{
    reserve(b, length);
    if (length) memcpy(b->data + b->length, data, length);
    b->length += length;
    b->data[b->length] = '\0';
}

void mz_strbuf_add(struct mz_strbuf *b, const char *text) { mz_strbuf_addn(b, text, strlen(text)); }

void mz_strbuf_addc(struct mz_strbuf *b, char c) { mz_strbuf_addn(b, &c, 1); }

void mz_strbuf_addv(struct mz_strbuf *b, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    if (length > 0) {
        reserve(b, (size_t)length);
        vsnprintf(b->data + b->length, (size_t)length + 1, format, again);
        b->length += (size_t)length;
    }
    va_end(again);
}

void mz_strbuf_addf(struct mz_strbuf *b, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    mz_strbuf_addv(b, format, arguments);
    va_end(arguments);
}

void mz_strbuf_repeat(struct mz_strbuf *b, char c, size_t times)
{
    while (times--) mz_strbuf_addc(b, c);
}

void mz_strbuf_add_count(struct mz_strbuf *b, uint64_t n, const char *what)
{
    mz_strbuf_addf(b, "%" PRIu64 " %s%s", n, what, n == 1 ? "" : "s");
}

void mz_strbuf_add_size(struct mz_strbuf *b, uint64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    double size = (double)bytes / 1024;
    if (bytes < 1024) {
        mz_strbuf_add_count(b, bytes, "byte");
        return;
    }
    for (; size >= 1023.5 && unit + 1 < sizeof units / sizeof *units; unit++) size /= 1024;
    /* %g drops zeros at the end, but would write 1023 as 1.02e+03. */
    mz_strbuf_addf(b, size >= 999.5 ? "%.0f %s" : "%.3g %s", size, units[unit]);
}

void mz_strbuf_clear(struct mz_strbuf *b)
{
    b->length = 0;
    if (b->data) b->data[0] = '\0';
}

void mz_strbuf_release(struct mz_strbuf *b)
{
    free(b->data);
    *b = (struct mz_strbuf){0};
}

const char *mz_strbuf_text(const struct mz_strbuf *b) { return b->data ? b->data : ""; }

char *mz_strbuf_take(struct mz_strbuf *b)
{
    char *text = b->data ? b->data : mz_memory_string("");
    *b = (struct mz_strbuf){0};
    return text;
}

char *mz_format(const char *format, ...)
{
    struct mz_strbuf b = {0};
    va_list arguments;
    va_start(arguments, format);
    mz_strbuf_addv(&b, format, arguments);
    va_end(arguments);
    return mz_strbuf_take(&b);
}
