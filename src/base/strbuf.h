/* A string that grows. A zeroed struct is an empty string; `data` is NULL until something is added, so read it
 * through mz_strbuf_text(). */
#ifndef MZ_BASE_STRBUF_H
#define MZ_BASE_STRBUF_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct mz_strbuf {
    char *data;
    size_t length, capacity;
};

void mz_strbuf_add(struct mz_strbuf *b, const char *text);
void mz_strbuf_addn(struct mz_strbuf *b, const void *data, size_t length);
void mz_strbuf_addc(struct mz_strbuf *b, char c);
void mz_strbuf_addf(struct mz_strbuf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void mz_strbuf_addv(struct mz_strbuf *b, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
void mz_strbuf_repeat(struct mz_strbuf *b, char c, size_t times);
/* "1 execution", "2 executions" */
void mz_strbuf_add_count(struct mz_strbuf *b, uint64_t n, const char *what);
/* A size of memory with three digits, in a suitable unit: "300 KiB", "1.46 MiB" */
void mz_strbuf_add_size(struct mz_strbuf *b, uint64_t bytes);
void mz_strbuf_clear(struct mz_strbuf *b);   /* make it empty, keep its memory */
void mz_strbuf_release(struct mz_strbuf *b); /* make it empty, free its memory */
const char *mz_strbuf_text(const struct mz_strbuf *b);
char *mz_strbuf_take(struct mz_strbuf *b); /* return the text, which the caller frees; never NULL */

char *mz_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
