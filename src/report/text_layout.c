/* Colours, names that are too long, lines that are too long: see text.h. */
#include "report/text.h"

#include <string.h>

void mz_text_paint(struct mz_strbuf *out, const struct mz_style *style, enum mz_paint paint, const char *text)
{
    static const char *const codes[] = {"", "1", "2", "1;31", "1;32", "1;33"};
    if (!style->color || paint == MZ_PLAIN || !text[0])
        mz_strbuf_add(out, text);
    else
        mz_strbuf_addf(out, "\033[%sm%s\033[0m", codes[paint], text);
}

void mz_text_shorten(struct mz_strbuf *out, const char *text, size_t length)
{
    size_t n = strlen(text);
    if (n <= length || length < 4) {
        mz_strbuf_addn(out, text, n < length ? n : length);
        return;
    }
    size_t tail = (length - 2) / 2, head = length - 2 - tail;
    while (head > 0 && ((unsigned char)text[head] & 0xc0) == 0x80) head--; /* whole UTF-8 characters */
    while (tail > 0 && ((unsigned char)text[n - tail] & 0xc0) == 0x80) tail--;
    mz_strbuf_addn(out, text, head);
    mz_strbuf_add(out, "..");
    mz_strbuf_addn(out, text + n - tail, tail);
}

/* ---- long lines ---- */

/* Length of the text up to and with the next comma or semicolon that a space follows. */
static size_t clause(const char *text)
{
    size_t n = 0;
    while (text[n] && !((text[n] == ',' || text[n] == ';') && text[n + 1] == ' ')) n++;
    return n + (text[n] != '\0');
}

/* Add text after `column` columns that are already written; further lines are indented. Lines break between clauses,
 * and between words where a clause is longer than a line. */
void mz_text_wrap(struct mz_strbuf *out, size_t column, const char *text, size_t width, size_t indent)
{
    const char *end = text; /* of the clause */
    bool whole = false;
    while (*text) {
        if (text >= end) {
            end = text + clause(text);
            whole = indent + (size_t)(end - text) <= width;
        }
        size_t n = whole ? (size_t)(end - text) : strcspn(text, " ");
        if (column && column + 1 + n > width) {
            mz_strbuf_addc(out, '\n');
            mz_strbuf_repeat(out, ' ', indent);
            column = indent;
        } else if (column) {
            mz_strbuf_addc(out, ' ');
            column++;
        }
        mz_strbuf_addn(out, text, n);
        column += n;
        text += n + strspn(text + n, " ");
    }
    mz_strbuf_addc(out, '\n');
}

/* The same for a string buffer, which is released. */
void mz_text_paragraph(struct mz_strbuf *out, struct mz_strbuf *text, const struct mz_style *style)
{
    mz_text_wrap(out, 0, mz_strbuf_text(text), style->width, 2);
    mz_strbuf_release(text);
}
