/* Splitting and quoting words: see shell_words.h. */
#include "base/shell_words.h"

#include <ctype.h>
#include <string.h>

/* Read one word from p. Return where it ends, or NULL if a quote is not closed. */
static const char *one_word(const char *p, struct mz_strbuf *word)
{
    char quote = 0;
    for (; *p && (quote || !isspace((unsigned char)*p)); p++) {
        if (!quote && (*p == '\'' || *p == '"'))
            quote = *p;
        else if (quote && *p == quote)
            quote = 0;
        else if (*p == '\\' && quote != '\'' && p[1])
            mz_strbuf_addc(word, *++p);
        else
            mz_strbuf_addc(word, *p);
    }
    return quote ? NULL : p;
}

bool mz_words_split(const char *text, struct mz_list *words)
{
    const char *p = text;
    for (;;) {
        struct mz_strbuf word = {0};
        while (isspace((unsigned char)*p)) p++;
        if (!*p) return true;
        p = one_word(p, &word);
        if (!p) {
            mz_strbuf_release(&word);
            return false;
        }
        mz_list_take(words, mz_strbuf_take(&word));
    }
}

void mz_words_quote(struct mz_strbuf *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
    if (*word && word[strspn(word, plain)] == '\0') {
        mz_strbuf_add(out, word);
        return;
    }
    mz_strbuf_addc(out, '\'');
    for (; *word; word++)
        if (*word == '\'')
            mz_strbuf_add(out, "'\\''");
        else
            mz_strbuf_addc(out, *word);
    mz_strbuf_addc(out, '\'');
}

void mz_words_quote_at_file(struct mz_strbuf *out, const char *word)
{
    if (!*word) mz_strbuf_add(out, "\"\"");
    for (; *word; word++) {
        if (isspace((unsigned char)*word) || strchr("\\'\"", *word)) mz_strbuf_addc(out, '\\');
        mz_strbuf_addc(out, *word);
    }
}
