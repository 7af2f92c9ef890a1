/* Tests of src/base: strings that grow (strbuf), lists of strings, JSON, and untrusted text on a terminal
 * (printable). */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include "base/json.h"
#include "base/list.h"
#include "base/printable.h"
#include "base/strbuf.h"

static void strbuf_is_empty_at_first(void **state)
{
    (void)state;
    struct mz_strbuf b = {0};
    assert_string_equal(mz_strbuf_text(&b), "");
    char *text = mz_strbuf_take(&b);
    assert_string_equal(text, "");
    free(text);
}

static void strbuf_grows(void **state)
{
    (void)state;
    struct mz_strbuf b = {0};
    for (int i = 0; i < 1000; i++) mz_strbuf_addf(&b, "%d,", i % 10);
    assert_int_equal(b.length, 2000);
    assert_int_equal(strlen(mz_strbuf_text(&b)), 2000);
    assert_memory_equal(b.data + 1980, "0,1,2,3,4,5,6,7,8,9,", 20);
    mz_strbuf_clear(&b);
    assert_string_equal(mz_strbuf_text(&b), "");
    mz_strbuf_repeat(&b, '=', 3);
    mz_strbuf_addn(&b, "a\0b", 3);
    assert_int_equal(b.length, 6);
    assert_memory_equal(b.data, "===a\0b", 7);
    mz_strbuf_release(&b);
    assert_null(b.data);
}

static void assert_size(uint64_t bytes, const char *text)
{
    struct mz_strbuf b = {0};
    mz_strbuf_add_size(&b, bytes);
    assert_string_equal(mz_strbuf_text(&b), text);
    mz_strbuf_release(&b);
}

static void strbuf_writes_numbers(void **state)
{
    (void)state;
    struct mz_strbuf b = {0};
    mz_strbuf_add_count(&b, 1, "execution");
    mz_strbuf_addc(&b, ' ');
    mz_strbuf_add_count(&b, 0, "execution");
    assert_string_equal(mz_strbuf_text(&b), "1 execution 0 executions");
    mz_strbuf_release(&b);
    assert_size(0, "0 bytes");
    assert_size(1, "1 byte");
    assert_size(1023, "1023 bytes");
    assert_size(1024, "1 KiB");
    assert_size(307200, "300 KiB");
    assert_size(1023 * 1024, "1023 KiB");
    assert_size(1024 * 1024 - 1, "1 MiB"); /* not 1024 KiB */
    assert_size(1530920, "1.46 MiB");
    assert_size((uint64_t)5 << 40, "5 TiB");
    assert_size((uint64_t)5000 << 40, "5000 TiB"); /* the last unit */
}

static void list_is_for_exec(void **state)
{
    (void)state;
    struct mz_list l = {0}, more = {0};
    assert_null(mz_list_argv(&l)[0]);
    for (int i = 0; i < 40; i++) {
        mz_list_addf(&l, "word %d", i);
        assert_null(l.items[l.count]);
    }
    mz_list_add(&more, "last");
    mz_list_append(&l, &more);
    assert_int_equal(l.count, 41);
    assert_string_equal(mz_list_argv(&l)[40], "last");
    assert_null(mz_list_argv(&l)[41]);
    assert_true(mz_list_has(&l, "word 7"));
    assert_false(mz_list_has(&l, "word"));
    mz_list_release(&more);
    mz_list_release(&l);
    assert_int_equal(l.count, 0);
}

static void json_puts_commas(void **state)
{
    (void)state;
    struct mz_json j = {0};
    mz_json_open(&j, NULL, '{');
    mz_json_string(&j, "name", "x");
    mz_json_string(&j, "none", NULL);
    mz_json_open(&j, "list", '[');
    mz_json_open(&j, NULL, '[');
    mz_json_number(&j, NULL, UINT64_MAX);
    mz_json_signed(&j, NULL, INT64_MIN);
    mz_json_close(&j, ']');
    mz_json_close(&j, ']');
    mz_json_open(&j, "empty", '{');
    mz_json_close(&j, '}');
    mz_json_decimal(&j, "share", 0.5);
    mz_json_bool(&j, "good", true);
    mz_json_close(&j, '}');
    assert_string_equal(mz_strbuf_text(&j.out), "{\n  \"name\": \"x\",\n  \"none\": null,\n  \"list\": [\n"
                                                "    [18446744073709551615, -9223372036854775808]\n  ],\n"
                                                "  \"empty\": {},\n  \"share\": 0.5,\n  \"good\": true\n}");
    mz_strbuf_release(&j.out);
}

static void assert_json(const char *text, const char *escaped)
{
    struct mz_json j = {0};
    mz_json_string(&j, NULL, text);
    assert_string_equal(mz_strbuf_text(&j.out), escaped);
    mz_strbuf_release(&j.out);
}

static void json_escapes(void **state)
{
    (void)state;
    assert_json("a\"b\\c/", "\"a\\\"b\\\\c/\"");
    assert_json("\n\t\r\b\f", "\"\\n\\t\\r\\b\\f\"");
    assert_json("\x1b[2J\x7f", "\"\\u001b[2J\\u007f\"");
    assert_json("\xc3\xa4\xe2\x82\xac\xf0\x9f\x8e\xb5", "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x8e\xb5\"");
    assert_json("a\xff\xc3", "\"a\xef\xbf\xbd\xef\xbf\xbd\""); /* not UTF-8; cut short */
    assert_json("\xe2\x80\xae\xc2\x9b", "\"\\u202e\\u009b\""); /* direction, C1 */
    assert_json("\xc0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\"");   /* overlong */
}

static void utf8_sequences(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned length;
    } cases[] = {
        {"a", 1},
        {"\xc3\xa4", 2},
        {"\xe2\x82\xac", 3},
        {"\xf0\x9f\x8e\xb5", 4},
        {"\x80", 0},
        {"\xc0\x80", 0},
        {"\xc1\xbf", 0},
        {"\xe0\x80\x80", 0},
        {"\xed\xa0\x80", 0},
        {"\xf0\x80\x80\x80", 0},
        {"\xf4\x90\x80\x80", 0},
        {"\xf5\x80\x80\x80", 0},
        {"\xc3", 0},
        {"\xe2\x82", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(mz_utf8_sequence((const unsigned char *)cases[i].text), cases[i].length);
}

static void assert_printable(const char *text, const char *escaped)
{
    struct mz_strbuf b = {0};
    mz_printable(&b, text);
    assert_string_equal(mz_strbuf_text(&b), escaped);
    mz_strbuf_release(&b);
}

static void printable_leaves_no_controls(void **state)
{
    (void)state;
    assert_printable("plain text", "plain text");
    assert_printable("a\nb\tc\r", "a\\nb\\tc\\r");
    assert_printable("\x1b]0;owned\x07", "\\x1b]0;owned\\x07");
    assert_printable("\x9b"
                     "31m \xc2\x9b",
                     "\\x9b31m \\x9b");
    assert_printable("\xe2\x80\xae\xe2\x81\xa6\xef\xbb\xbf", "\\u202e\\u2066\\ufeff");
    assert_printable("\xc3\xa4", "\xc3\xa4");
    struct mz_list l = {0};
    char *nothing = NULL;
    mz_list_add(&l, "good");
    mz_list_add(&l, "b\x1b"
                    "d");
    mz_list_printable(&l);
    mz_string_printable(&nothing);
    assert_null(nothing);
    assert_string_equal(l.items[0], "good");
    assert_string_equal(l.items[1], "b\\x1bd");
    mz_list_release(&l);
}

void unit_base_text(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strbuf_is_empty_at_first), cmocka_unit_test(strbuf_grows),
        cmocka_unit_test(strbuf_writes_numbers),    cmocka_unit_test(list_is_for_exec),
        cmocka_unit_test(json_puts_commas),         cmocka_unit_test(json_escapes),
        cmocka_unit_test(utf8_sequences),           cmocka_unit_test(printable_leaves_no_controls),
    };
    UNIT_GROUP("base: text", tests);
}
