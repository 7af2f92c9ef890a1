/* Tests packets between the parts of a search (event/packet.h): reading a packet returns what was written;
 * counts in a packet from outside are bounded. */
#include "unit.h"

#include "event/packet.h"

static uint8_t room[64];

static struct mz_message empty(size_t capacity)
{
    return (struct mz_message){.data = room, .capacity = capacity};
}

static void what_is_put_comes_out(void **state)
{
    (void)state;
    struct mz_message m = empty(sizeof room);
    uint8_t bytes[3];
    mz_put(&m, 7);
    mz_put_long(&m, UINT64_MAX - 1);
    mz_put_bytes(&m, "xyz", 3);
    mz_put(&m, UINT32_MAX);
    assert_int_equal(m.count, 4 + 8 + 3 + 4);
    assert_int_equal(mz_get(&m), 7);
    assert_true(mz_get_long(&m) == UINT64_MAX - 1);
    mz_get_bytes(&m, bytes, 3);
    assert_memory_equal(bytes, "xyz", 3);
    assert_int_equal(mz_get(&m), UINT32_MAX);
    assert_false(m.bad);
    assert_int_equal(m.at, m.count);
    mz_message_clear(&m);
    assert_int_equal(m.count, 0);
}

/* Reading behind the end gives zeros and marks the packet as bad. */
static void reading_is_bounded(void **state)
{
    (void)state;
    struct mz_message m = empty(sizeof room);
    mz_put(&m, 1);
    mz_put_bytes(&m, "abc", 3);
    assert_int_equal(mz_get(&m), 1);
    assert_int_equal(mz_get(&m), 0); /* only three bytes are left */
    assert_true(m.bad);
    uint8_t bytes[3] = {9, 9, 9};
    mz_get_bytes(&m, bytes, 3); /* the bytes exist, but the packet is bad already */
    assert_memory_equal(bytes, "\0\0\0", 3);
}

static void counts_are_bounded(void **state)
{
    (void)state;
    struct mz_message m = empty(sizeof room);
    mz_put(&m, 2);
    mz_put_bytes(&m, "12345678", 8);
    assert_int_equal(mz_get_count(&m, 4), 2);
    m.at = 0;
    assert_int_equal(mz_get_count(&m, 5), 0); /* there is no room for two items of five bytes */
    assert_true(m.bad);
}

static void writing_too_much_is_a_bug(void **state)
{
    (void)state;
    struct mz_message m = empty(6);
    mz_put(&m, 1);
    expect_assert_failure(mz_put(&m, 2));
    expect_assert_failure(mz_put_bytes(&m, "abc", 3));
    mz_put_bytes(&m, "ab", 2);
    assert_int_equal(m.count, 6);
}

void unit_event_packet(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_put_comes_out),
        cmocka_unit_test(reading_is_bounded),
        cmocka_unit_test(counts_are_bounded),
        cmocka_unit_test(writing_too_much_is_a_bug),
    };
    UNIT_GROUP("event: packet", tests);
}
