/* Text functions. Law L1 of runtime.h forbids stdio. Any file may call them. */
#include "runtime/core/runtime.h"

size_t mz_text_length(const char *text)
{
    size_t n = 0;
    while (text[n]) n++;
    return n;
}

size_t mz_text_copy(char *to, size_t size, const char *from)
{
    size_t n = 0;
    while (from[n] && n + 1 < size) to[n] = from[n], n++;
    to[n] = 0;
    return n;
}

/* Append as much of `from` as fits. Return the new end of the text, where the terminator is. */
char *mz_text_add(char *to, char *end, const char *from)
{
    while (*from && to + 1 < end) *to++ = *from++;
    *to = 0;
    return to;
}

char *mz_text_number(char *to, char *end, uint64_t number, unsigned base)
{
    char digits[24];
    int n = 0;
    do {
        digits[n++] = "0123456789abcdef"[number % base];
        number /= base;
    } while (number);
    while (n && to + 1 < end) *to++ = digits[--n];
    *to = 0;
    return to;
}

bool mz_text_differs(const char *a, const char *b)
{
    while (*a && *a == *b) a++, b++;
    return *a != *b;
}
