/* JSON writer: see json.h. */
#include "base/json.h"

#include <inttypes.h>
#include <string.h>
#include "base/printable.h"

static void escape(struct mz_strbuf *out, const char *text)
{
    static const char specials[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const unsigned char *p = (const unsigned char *)text;
    mz_strbuf_addc(out, '"');
    while (*p) {
        const char *special = strchr(specials, *p);
        unsigned n = mz_utf8_sequence(p);
        if (special)
            mz_strbuf_addf(out, "\\%c", letters[special - specials]);
        else if (mz_utf8_control(p, n))
            mz_strbuf_addf(out, "\\u%04x", mz_utf8_control(p, n));
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
    mz_strbuf_addf(&j->out, "%.6g",
                   value); /* the command never calls setlocale, so the decimal separator is a point */
}

void mz_json_bool(struct mz_json *j, const char *key, bool value)
{
    begin(j, key);
    mz_strbuf_add(&j->out, value ? "true" : "false");
}
