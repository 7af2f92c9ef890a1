/* JSON writer: see json.h. */
#include "json.h"

#include <inttypes.h>
#include <string.h>

/* Length of the UTF-8 sequence at p (1 to 4), or 0 if there is none. Overlong forms, surrogates and what lies
 * above U+10FFFF are none. */
static unsigned sequence(const unsigned char *p)
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

static void escape(struct mz_strbuf *out, const char *text)
{
    static const char specials[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const unsigned char *p = (const unsigned char *)text;
    mz_strbuf_addc(out, '"');
    while (*p) {
        const char *special = strchr(specials, *p);
        unsigned n = sequence(p);
        if (special)
            mz_strbuf_addf(out, "\\%c", letters[special - specials]);
        else if (*p < 0x20 || *p == 0x7f)
            mz_strbuf_addf(out, "\\u%04x", *p);
        else if (n)
            mz_strbuf_addn(out, p, n);
        else
            mz_strbuf_add(out, "\xef\xbf\xbd");
        p += n ? n : 1;
    }
    mz_strbuf_addc(out, '"');
}

static void begin(struct mz_json *j, const char *key)
{
    if (j->comma) mz_strbuf_addc(&j->out, ',');
    if (j->depth > 0 && j->depth <= 2)
        mz_strbuf_addf(&j->out, "\n%*s", 2 * j->depth, "");
    else if (j->comma)
        mz_strbuf_addc(&j->out, ' ');
    if (key) {
        escape(&j->out, key);
        mz_strbuf_add(&j->out, ": ");
    }
    j->comma = true;
}

void mz_json_open(struct mz_json *j, const char *key, char bracket)
{
    begin(j, key);
    mz_strbuf_addc(&j->out, bracket);
    j->comma = false;
    j->depth++;
}

void mz_json_close(struct mz_json *j, char bracket)
{
    j->depth--;
    if (j->depth < 2 && j->comma) mz_strbuf_addf(&j->out, "\n%*s", 2 * j->depth, "");
    mz_strbuf_addc(&j->out, bracket);
    j->comma = true;
}

void mz_json_string(struct mz_json *j, const char *key, const char *value)
{
    begin(j, key);
    if (value)
        escape(&j->out, value);
    else
        mz_strbuf_add(&j->out, "null");
}

void mz_json_number(struct mz_json *j, const char *key, uint64_t value)
{
    begin(j, key);
    mz_strbuf_addf(&j->out, "%" PRIu64, value);
}

void mz_json_signed(struct mz_json *j, const char *key, int64_t value)
{
    begin(j, key);
    mz_strbuf_addf(&j->out, "%" PRId64, value);
}

void mz_json_decimal(struct mz_json *j, const char *key, double value)
{
    begin(j, key);
    mz_strbuf_addf(&j->out, "%.6g", value); /* the command never calls setlocale, so the point is a point */
}

void mz_json_bool(struct mz_json *j, const char *key, bool value)
{
    begin(j, key);
    mz_strbuf_add(&j->out, value ? "true" : "false");
}
