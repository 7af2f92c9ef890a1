/* Tests what the command and a worker share: rings of bytes and slots (link), paths of threads, names of
 * operations. */
#include "unit.h"

#include <string.h>
#include "event/link.h"
#include "event/op.h"
#include "event/thread_paths.h"

/* Messages longer than what is free, around the end of the ring: in pieces, byte by byte the same. */
static void ring_keeps_order(void **state)
{
    (void)state;
    static struct mz_ring r;
    static uint8_t out[3 * MZ_RING], in[3 * MZ_RING];
    size_t sent = 0, received = 0;
    memset(&r, 0, sizeof r);
    for (size_t i = 0; i < sizeof out; i++) out[i] = (uint8_t)(i * 31 >> 3);
    for (unsigned round = 1; received < sizeof out; round++) {
        sent +=
            mz_ring_put(&r, out + sent, sizeof out - sent < round * 1000 ? sizeof out - sent : round * 1000);
        assert_true(r.written - r.read <= MZ_RING);
        assert_int_equal(mz_ring_room(&r), r.written - r.read < MZ_RING);
        received += mz_ring_get(&r, in + received, round * 700);
        assert_true(received <= sent);
    }
    assert_memory_equal(in, out, sizeof out);
    assert_false(mz_ring_holds(&r));
    assert_int_equal(mz_ring_get(&r, in, 1), 0);
}

static void ring_full_takes_nothing(void **state)
{
    (void)state;
    static struct mz_ring r;
    static uint8_t bytes[MZ_RING + 1];
    memset(&r, 0, sizeof r);
    assert_int_equal(mz_ring_put(&r, bytes, sizeof bytes), MZ_RING);
    assert_int_equal(mz_ring_put(&r, bytes, 1), 0);
    assert_false(mz_ring_room(&r));
    assert_false(mz_ring_damaged(&r));
}

/* If the program damages the ring, the command still reads and writes inside it. */
static void ring_damaged_is_empty_and_full(void **state)
{
    (void)state;
    static struct mz_ring r;
    uint8_t byte = 0;
    memset(&r, 0, sizeof r);
    r.written = 5, r.read = UINT64_MAX - MZ_RING;
    assert_true(mz_ring_damaged(&r));
    assert_int_equal(mz_ring_put(&r, &byte, 1), 0);
    assert_int_equal(mz_ring_get(&r, &byte, 1), 0);
}

static void slots_are_given_once(void **state)
{
    (void)state;
    static struct mz_common c;
    memset(&c, 0, sizeof c);
    uint32_t first = 1 /* child 0 of slot 0 */, second = 2, grandchild = (1u << 8) + 1;
    assert_false(mz_common_sound(&c, 0));
    assert_true(mz_common_sound(&c, first));
    assert_false(mz_common_sound(&c, grandchild)); /* slot 1 is free */
    assert_int_equal(mz_common_known_slot(&c, first), 0);
    assert_int_equal(mz_common_slot(&c, first), 1);
    assert_true(mz_common_sound(&c, grandchild));
    assert_int_equal(mz_common_slot(&c, second), 2);
    assert_int_equal(mz_common_slot(&c, first), 1);
    assert_int_equal(mz_common_known_slot(&c, second), 2);
    for (uint32_t name = 3; name < MZ_MAX_THREADS; name++) assert_int_equal(mz_common_slot(&c, name), name);
    assert_int_equal(mz_common_slot(&c, grandchild), 0); /* none left */
}

static void paths_of_threads(void **state)
{
    (void)state;
    static struct mz_thread_info t[MZ_MAX_THREADS];
    memset(t, 0, sizeof t);
    assert_true(mz_threads_add_path(t, 0, "0"));
    assert_true(mz_threads_add(t, 1, 0, 1));
    assert_true(mz_threads_add(t, 2, 1, 2));
    assert_string_equal(t[2].name, "0.1.2");
    assert_true(mz_threads_add_path(t, 3, "0.1.2.1"));
    assert_int_equal(t[3].parent, 2);
    assert_int_equal(mz_threads_find(t, "0.1.2"), 2);
    assert_int_equal(mz_threads_find(t, "0.1.3"), -1);
    /* Refused: a path that exists already, a parent that does not exist, a spawn index of 0, a slot too large. */
    assert_false(mz_threads_add(t, 4, 0, 1));
    assert_false(mz_threads_add(t, 4, 5, 1));
    assert_false(mz_threads_add(t, 4, 4, 1));
    assert_false(mz_threads_add(t, 4, 0, 0));
    assert_false(mz_threads_add(t, MZ_MAX_THREADS, 0, 3));
    static const char *const bad[] = {"",     "0",    "1",     "0.",   "0.0",
                                      "0.01", "0.1x", "0.9.1", "0.-1", "0.99999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(mz_threads_add_path(t, 4, bad[i]));
        assert_false(t[4].used);
    }
}

/* The path of the deepest possible thread fits. */
static void longest_path(void **state)
{
    (void)state;
    static struct mz_thread_info t[MZ_MAX_THREADS];
    memset(t, 0, sizeof t);
    assert_true(mz_threads_add_path(t, 0, "0"));
    for (int s = 1; s < MZ_MAX_THREADS; s++) assert_true(mz_threads_add(t, s, s - 1, 1));
    assert_int_equal(strlen(t[MZ_MAX_THREADS - 1].name), 2 * MZ_MAX_THREADS - 1);
}

/* mz_threads_tidy() makes any content of the table satisfy the invariants. */
static void tidy_drops_what_cannot_be(void **state)
{
    (void)state;
    static struct mz_thread_info t[MZ_MAX_THREADS];
    memset(t, 0xee, sizeof t);
    for (int s = 1; s < MZ_MAX_THREADS; s++) t[s].used = 0;
    t[1] = (struct mz_thread_info){.used = 1, .parent = 0, .spawn_index = 3, .start = 77, .name = "nonsense"};
    t[2] = (struct mz_thread_info){.used = 1, .parent = 9, .spawn_index = 1};
    t[3] = (struct mz_thread_info){.used = 1, .parent = 2, .spawn_index = 1}; /* its parent is dropped */
    t[4] = (struct mz_thread_info){.used = 1, .parent = 0, .spawn_index = 3}; /* there already */
    mz_threads_tidy(t);
    assert_string_equal(t[0].name, "0");
    assert_string_equal(t[1].name, "0.3");
    assert_int_equal(t[1].start, 77);
    for (int s = 2; s < MZ_MAX_THREADS; s++) assert_false(t[s].used);
}

static void operations_have_names(void **state)
{
    (void)state;
    for (int op = 0; op < MZ_OP_COUNT; op++) {
        assert_non_null(mz_op_name((enum mz_op)op));
        assert_true(mz_op_name((enum mz_op)op)[0] != '\0');
    }
    assert_string_equal(mz_op_name(MZ_OP_CAS), "cas");
    assert_string_equal(mz_op_name(MZ_OP_COUNT), "?");
    assert_string_equal(mz_op_name((enum mz_op)255), "?");
}

void unit_event_channel(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ring_keeps_order),
        cmocka_unit_test(ring_full_takes_nothing),
        cmocka_unit_test(ring_damaged_is_empty_and_full),
        cmocka_unit_test(slots_are_given_once),
        cmocka_unit_test(paths_of_threads),
        cmocka_unit_test(longest_path),
        cmocka_unit_test(tidy_drops_what_cannot_be),
        cmocka_unit_test(operations_have_names),
    };
    UNIT_GROUP("event: channel", tests);
}
