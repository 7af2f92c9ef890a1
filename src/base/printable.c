/* Text of others on a terminal: see printable.h. */
#include "base/printable.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

/* Overlong forms, surrogates and characters above U+10FFFF are not valid. */
unsigned mz_utf8_sequence(const unsigned char *p)
{
    unsigned n = p[0] < 0x80 ? 1 : p[0] >= 0xc2 && p[0] < 0xe0 ? 2 : (p[0] & 0xf0) == 0xe0 ? 3 : 0;
    if (p[0] >= 0xf0 && p[0] <= 0xf4) n = 4;
    for (unsigned i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80) return 0;
    if (p[0] == 0xe0 && p[1] < 0xa0) return 0;
    if (p[0] == 0xed && p[1] >= 0xa0) return 0;
    if (p[0] == 0xf0 && p[1] < 0x90) return 0;
    if (p[0] == 0xf4 && p[1] >= 0x90) return 0;
    return n;
}

static unsigned code_point(const unsigned char *p, unsigned n)
{
    static const unsigned char first[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    unsigned code = p[0] & first[n];
    for (unsigned i = 1; i < n; i++) code = code << 6 | (p[i] & 0x3f);
    return code;
}

static bool is_control(unsigned c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x061c || (c >= 0x200e && c <= 0x200f) ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

unsigned mz_utf8_control(const unsigned char *p, unsigned length)
{
    unsigned code = length ? code_point(p, length) : 0;
    return is_control(code) ? code : 0;
}

void mz_printable(struct mz_strbuf *out, const char *text)
{
    static const char specials[] = "\n\t\r", letters[] = "ntr";
    const unsigned char *p = (const unsigned char *)text;
    for (unsigned n; *p; p += n ? n : 1) {
        n = mz_utf8_sequence(p);
        unsigned code = n ? code_point(p, n) : *p;
        const char *special = code < 0x20 ? strchr(specials, (int)code) : NULL;
        if (special)
            mz_strbuf_addf(out, "\\%c", letters[special - specials]);
        else if (!n || (is_control(code) && code < 0x100))
            mz_strbuf_addf(out, "\\x%02x", code);
        else if (is_control(code))
            mz_strbuf_addf(out, "\\u%04x", code);
        else
            mz_strbuf_addn(out, (const char *)p, n);
    }
}

static bool is_plain(const char *text)
{
    while (*text >= 0x20 && *text < 0x7f) text++;
    return !*text;
}

void mz_string_printable(char **text)
{
    struct mz_strbuf b = {0};
    if (!*text || is_plain(*text)) return;
    mz_printable(&b, *text);
    free(*text);
    *text = mz_strbuf_take(&b);
}

void mz_list_printable(struct mz_list *list)
{
    for (size_t i = 0; i < list->count; i++) mz_string_printable(&list->items[i]);
}
