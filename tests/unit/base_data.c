/* Tests of src/base: SHA-256, growing regions of memory, hashing of many words (mix), the hash table. */
#include "unit.h"

#include <string.h>
#include "base/mix.h"
#include "base/region.h"
#include "base/sha256.h"
#include "base/table.h"

/* The first three are examples of FIPS 180-4. */
static void sha256_examples(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned repeat;
        const char *hex;
    } cases[] = {
        {"abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"aaaaaaaaaa", 100000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
        {"", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mz_sha256 s;
        char hex[65];
        mz_sha256_init(&s);
        for (unsigned n = 0; n < cases[i].repeat; n++)
            mz_sha256_add(&s, cases[i].text, strlen(cases[i].text));
        mz_sha256_hex(&s, hex);
        assert_string_equal(hex, cases[i].hex);
    }
}

/* The hash does not depend on how the bytes are split into pieces, for any number of bytes. */
static void sha256_of_pieces(void **state)
{
    (void)state;
    char bytes[200], whole[65], pieces[65];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)(i * 7);
    for (size_t length = 0; length <= sizeof bytes; length++) {
        struct mz_sha256 a, b;
        mz_sha256_init(&a);
        mz_sha256_init(&b);
        mz_sha256_add(&a, bytes, length);
        for (size_t at = 0, n; at < length; at += n) {
            n = at % 13 + 1 < length - at ? at % 13 + 1 : length - at;
            mz_sha256_add(&b, bytes + at, n);
        }
        mz_sha256_hex(&a, whole);
        mz_sha256_hex(&b, pieces);
        assert_string_equal(whole, pieces);
    }
}

/* Fields end with a zero: "ab" "c" is not "a" "bc". */
static void sha256_of_fields(void **state)
{
    (void)state;
    struct mz_sha256 a, b;
    char first[65], second[65];
    mz_sha256_init(&a);
    mz_sha256_init(&b);
    mz_sha256_text(&a, "ab"), mz_sha256_text(&a, "c");
    mz_sha256_text(&b, "a"), mz_sha256_text(&b, "bc");
    mz_sha256_hex(&a, first);
    mz_sha256_hex(&b, second);
    assert_string_not_equal(first, second);
    mz_sha256_init(&a);
    assert_int_equal(mz_sha256_file(&a, "/nonexistent/file"), -1);
}

static void region_reads_as_zero(void **state)
{
    (void)state;
    size_t size = (size_t)1 << 36; /* far more than there is memory */
    char *r = mz_region_reserve(size);
    assert_non_null(r);
    assert_int_equal(r[0], 0);
    assert_int_equal(r[size - 1], 0);
    r[0] = r[100000] = 1;
    mz_region_empty(r, 4096);
    assert_int_equal(r[0], 0);
    assert_int_equal(r[100000], 1);
    mz_region_free(r, size);
    mz_region_free(NULL, size);
    assert_null(mz_region_reserve((size_t)1 << 62));
}

static struct mz_mix mixed(const uint64_t *words, size_t count)
{
    struct mz_mix m = {{0, 0}, 0};
    mz_mix_words(&m, words, words + count);
    return m;
}

static bool same(struct mz_mix a, struct mz_mix b)
{
    return a.hash[0] == b.hash[0] && a.hash[1] == b.hash[1];
}

static void mix_tells_words_apart(void **state)
{
    (void)state;
    uint64_t words[8] = {1, 2, 3, 4, 0, 0, 0, 0}, swapped[8] = {3, 4, 1, 2};
    struct mz_mix all = mixed(words, 8), parts = mixed(words, 4);
    mz_mix_words(&parts, words + 4, words + 8);
    assert_true(same(all, parts)); /* in pieces */
    assert_false(same(all, mixed(swapped, 8)));
    assert_false(same(all, mixed(words, 6))); /* zeros at the end count */
    for (int i = 0; i < 8; i++)
        for (int bit = 0; bit < 64; bit++) {
            words[i] ^= UINT64_C(1) << bit;
            assert_false(same(all, mixed(words, 8)));
            words[i] ^= UINT64_C(1) << bit;
        }
}

/* Keys that all have the same hash: a probe must pass all of them, and wrap around at the end of the slots. */
static bool is_number(const void *items, uint32_t number, const void *wanted)
{
    return ((const uint64_t *)items)[number] == *(const uint64_t *)wanted;
}
static uint32_t same_hash(const void *items, uint32_t number)
{
    (void)items, (void)number;
    return UINT32_MAX;
}

static void table_of_colliding_items(void **state)
{
    (void)state;
    static uint32_t slots[256];
    uint64_t items[100] = {0};
    struct mz_table t = {.slots = slots};
    mz_table_clear(&t, 4);
    for (uint32_t n = 1; n < 100; n++) {
        items[n] = 7 * n;
        if (mz_table_is_half_full(&t)) mz_table_grow(&t, same_hash, items);
        uint32_t *slot = mz_table_find(&t, UINT32_MAX, is_number, items, &items[n]);
        assert_int_equal(*slot, 0);
        mz_table_fill(&t, slot, n);
        assert_true(t.count <= (t.mask + 1) / 2);
    }
    for (uint32_t n = 1; n < 100; n++)
        assert_int_equal(*mz_table_find(&t, UINT32_MAX, is_number, items, &items[n]), n);
    uint64_t absent = 8;
    assert_int_equal(*mz_table_find(&t, UINT32_MAX, is_number, items, &absent), 0);
    mz_table_clear(&t, 4);
    assert_int_equal(*mz_table_find(&t, UINT32_MAX, is_number, items, &items[1]), 0);
}

static void table_of_keys(void **state)
{
    (void)state;
    struct {
        uint64_t key, value;
    } entries[128] = {{0, 0}}, *e;
    struct {
        uint64_t key[2];
        uint32_t value;
    } wide[128] = {{{0, 0}, 0}}, *w;
    for (uint64_t k = 1; k <= 64; k++) { /* hash: 126 or 127 for all */
        e = mz_key_find(entries, sizeof *entries, 127, (uint32_t)(126 + k % 2), k);
        assert_int_equal(e->key, 0);
        e->key = k;
        e->value = k * k;
        uint64_t key[2] = {127 << 8, k};
        w = mz_wide_key_find(wide, sizeof *wide, 127, key);
        assert_int_equal(w->key[1], 0);
        memcpy(w->key, key, sizeof key);
        w->value = (uint32_t)k;
    }
    for (uint64_t k = 1; k <= 64; k++) {
        e = mz_key_find(entries, sizeof *entries, 127, (uint32_t)(126 + k % 2), k);
        assert_int_equal(e->value, k * k);
        uint64_t key[2] = {127 << 8, k}, other[2] = {127 << 8, 64 + k};
        w = mz_wide_key_find(wide, sizeof *wide, 127, key);
        assert_int_equal(w->value, k);
        w = mz_wide_key_find(wide, sizeof *wide, 127, other);
        assert_int_equal(w->key[0] | w->key[1], 0);
    }
}

void unit_base_data(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha256_examples),       cmocka_unit_test(sha256_of_pieces),
        cmocka_unit_test(sha256_of_fields),      cmocka_unit_test(region_reads_as_zero),
        cmocka_unit_test(mix_tells_words_apart), cmocka_unit_test(table_of_colliding_items),
        cmocka_unit_test(table_of_keys),
    };
    UNIT_GROUP("base: data", tests);
}
