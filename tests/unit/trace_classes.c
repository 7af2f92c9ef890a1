/* Tests the hash of a class of executions, sets of classes, and the estimates made from them. */
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "fake.h"
#include "report/sample.h"
#include "trace/class_set.h"

/* ---- the hash ---- */

#define MOST 64

struct seen {
    struct mz_class_words class[MOST];
    unsigned count;
};

static void note(struct fake *f)
{
    struct seen *s = f->arg;
    struct mz_class_words class = mz_explore_class(f->x);
    for (unsigned i = 0; i < s->count; i++)
        if (!memcmp(&s->class[i], &class, sizeof class)) return;
    assert_true(s->count < MOST);
    s->class[s->count++] = class;
}

static void walk(struct fake *f, struct seen *s, const char *const code[FAKE_THREADS], unsigned walks,
                 uint64_t seed)
{
    fake_init(f, MZ_ALG_NONE, false, code);
    f->options.strategy = MZ_STRATEGY_RANDOM;
    f->options.seed = seed;
    f->visit = note;
    f->arg = s;
    *s = (struct seen){0};
    for (unsigned i = 0; i < walks; i++) assert_true(fake_execution(f));
}

/* As many hashes as the optimal search has executions. */
static void hashes_are_classes(void **state)
{
    (void)state;
    static const char *const programs[][FAKE_THREADS] = {{"wx wy", "ry wz", "rz rx"},
                                                         {"+x ra", "+x wa", "rb +x", "wb"},
                                                         {"Lm wx Um", "Lm rx Um", "rx"},
                                                         {"c3 wx", "rx c2"}};
    static struct fake f;
    static struct seen s;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        fake_init(&f, MZ_ALG_OPTIMAL, true, programs[i]);
        uint64_t classes = fake_explore(&f);
        fake_release(&f);
        walk(&f, &s, programs[i], 3000, i);
        assert_int_equal(s.count, classes);
        assert_int_equal(mz_explore_sample(f.x)->classes, classes);
        assert_int_equal(mz_explore_sample(f.x)->walks, 3000);
        fake_release(&f);
    }
}

static void independent_threads_have_one_class(void **state)
{
    (void)state;
    static const char *const code[FAKE_THREADS] = {"wa wa", "wb rb", "+c", "rd"};
    static struct fake f;
    static struct seen s;
    walk(&f, &s, code, 200, 1);
    assert_int_equal(s.count, 1);
    fake_release(&f);
}

/* Another search, another seed, other numbers of objects: the same hash. */
static void hash_is_the_same_in_all_searches(void **state)
{
    (void)state;
    static const char *const code[FAKE_THREADS] = {"wa wb", "ra rb"}, *const renamed[FAKE_THREADS] = {
                                                                          "wz wq", "rz rq"};
    static struct fake f;
    static struct seen s, t;
    walk(&f, &s, code, 500, 1);
    fake_release(&f);
    walk(&f, &t, renamed, 500, 2);
    fake_release(&f);
    assert_int_equal(s.count, t.count);
    for (unsigned i = 0; i < s.count; i++) {
        unsigned j = 0;
        while (j < t.count && memcmp(&s.class[i], &t.class[j], sizeof *s.class)) j++;
        assert_true(j < t.count);
    }
}

/* ---- sets ---- */

static struct mz_class class_of(uint64_t n)
{
    uint64_t z = (n + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (struct mz_class){z ^ z >> 31, z * 0xd6e8feb86659fd93u ^ z >> 29};
}

static void set_counts_times(void **state)
{
    (void)state;
    struct mz_class_set s = {0};
    mz_class_set_init(&s, 1024);
    for (int i = 0; i < 100; i++) assert_true(mz_class_set_add(&s, class_of((uint64_t)i), 1));
    for (int i = 0; i < 30; i++) assert_false(mz_class_set_add(&s, class_of((uint64_t)i), 1));
    for (int i = 0; i < 10; i++) assert_false(mz_class_set_add(&s, class_of((uint64_t)i), 1));
    assert_true(mz_class_set_add(&s, class_of(1000), 2));
    assert_int_equal(mz_class_set_count(&s), 101);
    assert_int_equal(s.once, 70);
    assert_int_equal(s.twice, 21);
    assert_int_equal(s.met, 142);
    mz_class_set_clear(&s);
    assert_int_equal(mz_class_set_count(&s) + s.once + s.twice + s.met, 0);
    assert_true(mz_class_set_add(&s, class_of(5), 1));
    mz_class_set_release(&s);
}

/* When the set is full, it keeps a sample, which does not depend on the order in which the classes came. */
static void full_set_keeps_a_sample(void **state)
{
    (void)state;
    struct mz_class_set s = {0}, t = {0};
    uint64_t n = 40000;
    mz_class_set_init(&s, 1024);
    mz_class_set_init(&t, 1024);
    for (uint64_t i = 0; i < n; i++) mz_class_set_add(&s, class_of(i), 1);
    for (uint64_t i = n; i-- > 0;) mz_class_set_add(&t, class_of(i), 1);
    assert_true(s.shift > 4 && s.shift < 8);
    mz_class_set_raise(&s, t.shift);
    mz_class_set_raise(&t, s.shift);
    assert_int_equal(mz_class_set_count(&s), mz_class_set_count(&t));
    assert_int_equal(s.once, mz_class_set_count(&s));
    assert_true(fabs((double)(mz_class_set_count(&s) << s.shift) - (double)n) < 0.15 * (double)n);
    mz_class_set_raise(&s, 0); /* never lower */
    assert_int_equal(s.shift, t.shift);
    mz_class_set_release(&s);
    mz_class_set_release(&t);
}

/* ---- estimates ---- */

static void estimates_by_hand(void **state)
{
    (void)state;
    struct mz_sample s = {.walks = 100, .alike = 100, .complete = 100, .classes = 20, .once = 10, .twice = 5};
    assert_true(fabs(mz_sample_estimate(&s) - 27.5) < 1e-9); /* 20 + 10 * 9 / (2 * 6) */
    assert_true(fabs(mz_sample_unseen(&s) - 0.1) < 1e-9);
    assert_true(fabs(mz_sample_missed(&s) - 0.03) < 1e-9);
    s.shift = 2;
    assert_true(fabs(mz_sample_estimate(&s) - 110) < 1e-9);
    s.alike = 2;
    assert_true(mz_sample_missed(&s) >= 1); /* nothing can be said */
    s.threads = 3, s.expected = 10;
    assert_true(fabs(mz_sample_pct(&s, 3) - 1. / 300) < 1e-12);
    assert_true(fabs(mz_sample_pct(&s, 1) - 1. / 3) < 1e-12);
}

void unit_trace_classes(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_are_classes),
        cmocka_unit_test(independent_threads_have_one_class),
        cmocka_unit_test(hash_is_the_same_in_all_searches),
        cmocka_unit_test(set_counts_times),
        cmocka_unit_test(full_set_keeps_a_sample),
        cmocka_unit_test(estimates_by_hand),
    };
    UNIT_GROUP("trace: classes", tests);
}
