/* Split a text into words as a shell does (without expansions), for MAZURKA_OPTIONS, MAZURKA_CC and the compiler's
 * @files. Quote words so that they can be copied into a shell. */
#ifndef MZ_BASE_SHELL_WORDS_H
#define MZ_BASE_SHELL_WORDS_H

#include <stdbool.h>
#include "base/list.h"
#include "base/strbuf.h"

/* Add the words to the list. Return false if a quote is not closed. */
bool mz_words_split(const char *text, struct mz_list *words);
void mz_words_quote(struct mz_strbuf *out, const char *word);
/* Quoted for an @file, where every special character is escaped by a backslash. */
void mz_words_quote_at_file(struct mz_strbuf *out, const char *word);

#endif
