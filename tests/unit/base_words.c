/* Tests of src/base: splitting and quoting words as a shell does (shell_words), and "did you mean"
 * (suggest). */
#include "unit.h"

#include "base/shell_words.h"
#include "base/suggest.h"

static void assert_words(const char *text, size_t count, const char *const *words)
{
    struct mz_list l = {0};
    assert_true(mz_words_split(text, &l));
    assert_int_equal(l.count, count);
    for (size_t i = 0; i < count; i++) assert_string_equal(l.items[i], words[i]);
    mz_list_release(&l);
}

static void words_are_split(void **state)
{
    (void)state;
    assert_words("", 0, NULL);
    assert_words(" \t\n ", 0, NULL);
    assert_words("one  two\n", 2, (const char *const[]){"one", "two"});
    assert_words("-DX='a b' \"c  d\"e ''", 3, (const char *const[]){"-DX=a b", "c  de", ""});
    assert_words("a\\ b 'c\\d' \"e\\\"f\"", 3, (const char *const[]){"a b", "c\\d", "e\"f"});
    assert_words("last\\", 1, (const char *const[]){"last\\"});
}

static void open_quotes_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"'", "a \"b", "'a\\''", "\"a\\\""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct mz_list l = {0};
        assert_false(mz_words_split(bad[i], &l));
        mz_list_release(&l);
    }
}

/* A quoted word, split again, is the same single word. */
static void quoting_and_splitting_are_inverse(void **state)
{
    (void)state;
    static const char *const words[] = {"plain", "",  "a b",  "it's",      "\"", "\\",
                                        "$x",    "*", "a\nb", "-DX=\"y\"", "~"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct mz_strbuf b = {0};
        mz_words_quote(&b, words[i]);
        assert_words(mz_strbuf_text(&b), 1, &words[i]);
        mz_strbuf_clear(&b);
        mz_words_quote_at_file(&b, words[i]);
        assert_words(mz_strbuf_text(&b), 1, &words[i]);
        mz_strbuf_release(&b);
    }
}

static void nearest_word(void **state)
{
    (void)state;
    static const char *const known[] = {"check", "replay", "show", "--algorithm", "--keep-going"};
    static const struct {
        const char *word, *suggestion;
    } cases[] = {
        {"chekc", "check"},        /* neighbours swapped */
        {"chck", "check"},         /* one missing */
        {"--algo", "--algorithm"}, /* cut short */
        {"--keepgoing", "--keep-going"},
        {"frobnicate", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *got = mz_suggest(cases[i].word, known, sizeof known / sizeof *known);
        if (cases[i].suggestion)
            assert_string_equal(got, cases[i].suggestion);
        else
            assert_null(got);
    }
    assert_null(mz_suggest("check", known, 0));
}

void unit_base_words(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_split),
        cmocka_unit_test(open_quotes_are_refused),
        cmocka_unit_test(quoting_and_splitting_are_inverse),
        cmocka_unit_test(nearest_word),
    };
    UNIT_GROUP("base: words", tests);
}
