/* Tests the order of the events of an execution (clocks), and the objects that the events are on. */
#include "unit.h"

#include <string.h>
#include "fake.h"

/* Happens-before by its definition: same thread, or in conflict, and transitive. */
static void expected_order(const struct fake *f, uint32_t length, bool before[FAKE_STEPS][FAKE_STEPS])
{
    const struct mz_event *e = ((const struct mz_path *)f->x)->events;
    memset(before, 0, sizeof(bool[FAKE_STEPS][FAKE_STEPS]));
    for (uint32_t j = 0; j < length; j++)
        for (uint32_t i = j; i-- > 0;) {
            if (e[i].thread == e[j].thread || fake_conflict(&e[i], &e[j])) before[i][j] = true;
            if (!before[i][j]) continue;
            for (uint32_t k = 0; k < i; k++) before[k][j] = before[k][j] || before[k][i];
        }
}

static void check_order(struct fake *f)
{
    static bool before[FAKE_STEPS][FAKE_STEPS];
    const struct mz_step *steps;
    uint32_t length = mz_explore_steps(f->x, &steps);
    expected_order(f, length, before);
    for (uint32_t j = 0; j < length; j++)
        for (uint32_t i = 0; i < j; i++)
            assert_int_equal(mz_explore_happens_before(f->x, i, j), before[i][j]);
}

static void clocks_are_happens_before(void **state)
{
    (void)state;
    static const char *const programs[][FAKE_THREADS] = {
        {"wx wy", "ry wz", "rz rx"},
        {"+x ra", "+x wa", "rb +x", "wb"},
        {"wx wx wx", "rx rx", "ry wy rx"},
        {"ra rb rc", "wa", "wb", "wc"},
    };
    static struct fake f;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        for (int algorithm = MZ_ALG_NONE; algorithm <= MZ_ALG_OPTIMAL; algorithm++) {
            fake_init(&f, (enum mz_algorithm)algorithm, true, programs[i]);
            f.visit = check_order;
            assert_true(fake_explore(&f) > 1);
            fake_release(&f);
        }
}

/* The release of a mutex orders what follows its next lock behind it. */
static void locks_order_what_they_protect(void **state)
{
    (void)state;
    static struct fake f;
    static const char *const code[FAKE_THREADS] = {"Lm wx Um", "Lm wy Um"};
    fake_init(&f, MZ_ALG_OPTIMAL, true, code);
    fake_execution(&f);
    assert_true(mz_explore_happens_before(f.x, 0, 1));
    assert_true(mz_explore_happens_before(f.x, 1, 2)); /* from the store to the other lock */
    assert_true(mz_explore_happens_before(f.x, 1, 3));
    fake_release(&f);
}

static void objects_have_numbers(void **state)
{
    (void)state;
    static struct fake f;
    static const char *const code[FAKE_THREADS] = {"wx wy", "rx"};
    fake_init(&f, MZ_ALG_OPTIMAL, true, code);
    fake_execution(&f);
    uint32_t x = mz_explore_known_object(f.x, fake_key('x')), y = mz_explore_known_object(f.x, fake_key('y'));
    assert_true(x > 0 && y > 0 && x != y);
    assert_int_equal(mz_explore_object(f.x, fake_key('x')), x);
    assert_int_equal(mz_explore_known_object(f.x, fake_key('z')), 0);
    uint32_t z = mz_explore_object(f.x, fake_key('z'));
    assert_true(z > 0 && z != x && z != y);
    assert_int_equal(mz_explore_known_object(f.x, fake_key('z')), z);
    fake_explore(&f);
    assert_int_equal(mz_explore_object(f.x, fake_key('x')), x); /* the same for the whole search */
    fake_release(&f);
}

static void events_of_an_object_are_linked(void **state)
{
    (void)state;
    static struct fake f;
    static const char *const code[FAKE_THREADS] = {"wx wy wx"};
    fake_init(&f, MZ_ALG_OPTIMAL, true, code);
    fake_execution(&f);
    const struct mz_event *e = ((const struct mz_path *)f.x)->events;
    assert_int_equal(e[0].prev_object, 0);
    assert_int_equal(e[2].prev_object, 1); /* the number of the first event */
    assert_int_equal(e[0].object, e[2].object);
    assert_int_not_equal(e[0].object, e[1].object);
    fake_release(&f);
}

void unit_engine_order(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clocks_are_happens_before),
        cmocka_unit_test(locks_order_what_they_protect),
        cmocka_unit_test(objects_have_numbers),
        cmocka_unit_test(events_of_an_object_are_linked),
    };
    UNIT_GROUP("engine: order", tests);
}
