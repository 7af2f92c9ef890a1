/* Tests how many executions each reduction explores: sleep sets, wakeup trees and backtrack sets, on programs
 * that are small enough to count by hand, and on random programs, compared with every interleaving. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include "fake.h"

static const struct {
    enum mz_algorithm algorithm;
    bool sleep_sets;
} reductions[] = {{MZ_ALG_OPTIMAL, true}, {MZ_ALG_SOURCE, true}, {MZ_ALG_DPOR, true}, {MZ_ALG_NONE, true}};
#define REDUCTIONS (sizeof reductions / sizeof *reductions)

static uint64_t count_with(enum mz_algorithm algorithm, bool sleep_sets, const char *const code[FAKE_THREADS],
                           struct mz_counters *counters)
{
    static struct fake f;
    fake_init(&f, algorithm, sleep_sets, code);
    uint64_t n = fake_explore(&f);
    if (counters) *counters = *mz_explore_counters(f.x);
    assert_null(mz_explore_damage(f.x));
    fake_release(&f);
    return n;
}

/* All reductions with sleep sets explore one execution of each class. */
static void assert_classes(uint64_t classes, const char *const code[FAKE_THREADS])
{
    for (size_t i = 0; i < REDUCTIONS; i++) {
        struct mz_counters c;
        assert_int_equal(count_with(reductions[i].algorithm, reductions[i].sleep_sets, code, &c), classes);
        assert_int_equal(c.executions, classes);
        if (reductions[i].algorithm == MZ_ALG_OPTIMAL) assert_int_equal(c.blocked, 0);
    }
}
#define CLASSES(n, ...) assert_classes((n), (const char *const[FAKE_THREADS]){__VA_ARGS__})

static void counted_by_hand(void **state)
{
    (void)state;
    CLASSES(1, "wx");
    CLASSES(1, "wx", "wy");
    CLASSES(1, "rx", "rx", "rx");
    CLASSES(2, "wx", "wx");
    CLASSES(6, "wx", "wx", "wx");
    CLASSES(24, "+x", "+x", "+x", "+x");
    CLASSES(8, "wx", "rx", "rx", "rx");  /* each reader before or after the writer */
    CLASSES(3, "wx ry", "wy rx");        /* not both loads first */
    CLASSES(4, "wx wy", "rx", "ry");     /* two races, independent of each other */
    CLASSES(20, "+x +x +x", "+x +x +x"); /* 6! / (3! 3!) */
    CLASSES(3, "wx", "c3");              /* a choice is in conflict with nothing */
    CLASSES(4, "c2 wx", "rx");           /* 2 choices, 2 orders */
}

static void locks_counted_by_hand(void **state)
{
    (void)state;
    CLASSES(2, "Lm wx Um", "Lm wx Um");
    CLASSES(6, "Lm Um", "Lm Um", "Lm Um");
    CLASSES(1, "Lm Um", "Ln Un");
    CLASSES(3, "La Lb Ub Ua", "Lb La Ua Ub"); /* either first, or the deadlock */
    CLASSES(2, "La Lb Ub Ua", "La Lb Ub Ua"); /* the inner lock adds nothing */
}

/* Without any reduction: every interleaving. */
static void no_reduction_is_every_interleaving(void **state)
{
    (void)state;
    assert_int_equal(
        count_with(MZ_ALG_NONE, false, (const char *const[FAKE_THREADS]){"wa wb", "wc wd"}, NULL), 6);
    assert_int_equal(
        count_with(MZ_ALG_NONE, false, (const char *const[FAKE_THREADS]){"wa wb", "wc wd", "we wf"}, NULL),
        90);
}

/* A run in which only sleeping threads are enabled is counted as blocked. */
static void sleep_sets_block(void **state)
{
    (void)state;
    struct mz_counters sleep, optimal;
    const char *const code[FAKE_THREADS] = {"wx", "ry wx", "ry rx"};
    uint64_t n = count_with(MZ_ALG_NONE, true, code, &sleep);
    assert_int_equal(n, count_with(MZ_ALG_OPTIMAL, true, code, &optimal));
    assert_int_equal(optimal.blocked, 0);
    assert_true(sleep.blocked > 0);
    assert_true(sleep.transitions > optimal.transitions);
}

/* Wakeup trees hold the sequences that are still to be explored: they are empty at the end of the search. */
static void wakeup_trees_are_used_up(void **state)
{
    (void)state;
    struct mz_counters c;
    count_with(MZ_ALG_OPTIMAL, true, (const char *const[FAKE_THREADS]){"wx", "rx", "rx"}, &c);
    assert_true(c.wakeup_nodes_peak > 0);
    assert_int_equal(c.wakeup_nodes, 0);
    count_with(MZ_ALG_OPTIMAL, true, (const char *const[FAKE_THREADS]){"wx", "wy"}, &c);
    assert_int_equal(c.wakeup_nodes_peak, 0); /* no race, no tree */
    assert_int_equal(c.races, 0);
}

static void sets_of(enum mz_algorithm algorithm, const char *const code[FAKE_THREADS], struct mz_counters *c)
{
    static struct fake f;
    fake_init(&f, algorithm, true, code);
    f.options.count_sets = true;
    fake_explore(&f);
    *c = *mz_explore_counters(f.x);
    fake_release(&f);
}

/* Three writers: 3 threads in the first set, 2 in each of the 3 second sets, 1 in each of the 6 last ones. */
static void sets_counted_by_hand(void **state)
{
    (void)state;
    struct mz_counters c;
    sets_of(MZ_ALG_SOURCE, (const char *const[FAKE_THREADS]){"wx", "wx", "wx"}, &c);
    assert_int_equal(c.largest_set, 3);
    assert_int_equal(c.sets, 1 + 3 + 6);
    assert_int_equal(c.set_sizes, 3 + 3 * 2 + 6);
    sets_of(MZ_ALG_OPTIMAL, (const char *const[FAKE_THREADS]){"wx", "wy"}, &c);
    assert_int_equal(c.largest_set, 2); /* no race: the empty sequence and the current branch */
    assert_int_equal(c.sets, 2);
    assert_int_equal(c.set_sizes, 4);
    sets_of(MZ_ALG_OPTIMAL, (const char *const[FAKE_THREADS]){"wx", "rx"}, &c);
    assert_int_equal(c.largest_set, 3); /* and the second thread's event */
    assert_int_equal(c.sets, 3);
    assert_int_equal(c.set_sizes, 3 + 2 + 2);
}

static void states_counted_by_hand(void **state)
{
    (void)state;
    struct mz_counters c;
    count_with(MZ_ALG_STATEFUL, false, (const char *const[FAKE_THREADS]){"wx wx", "wx wx"}, &c);
    assert_int_equal(c.states, 9); /* 3 places each */
    count_with(MZ_ALG_STATEFUL, false, (const char *const[FAKE_THREADS]){"Lm wx Um", "Lm wx Um"}, &c);
    assert_int_equal(c.states, 8); /* 3 places each, but not both inside the lock */
}

/* ---- random programs: the classes of all interleavings ---- */

#define MOST_CLASSES 2000
struct classes {
    uint64_t seen[MOST_CLASSES];
    size_t count;
};

static uint64_t mixed(uint64_t n) /* splitmix64 */
{
    n *= UINT64_C(0x9e3779b97f4a7c15);
    n = (n ^ n >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    n = (n ^ n >> 27) * UINT64_C(0x94d049bb133111eb);
    return n ^ n >> 31;
}

/* A class is the order of the events in conflict: a sum over the ordered pairs. */
static uint64_t class_of(const struct fake *f)
{
    const struct mz_step *steps;
    const struct mz_event *events = ((const struct mz_path *)f->x)->events;
    uint32_t length = mz_explore_steps(f->x, &steps);
    uint32_t nth[FAKE_STEPS], seen[FAKE_THREADS] = {0};
    uint64_t sum = 0;
    for (uint32_t j = 0; j < length; j++) {
        nth[j] = seen[steps[j].thread]++;
        for (uint32_t i = 0; i < j; i++) {
            if (steps[i].thread == steps[j].thread || !fake_conflict(&events[i], &events[j])) continue;
            uint64_t pair = (uint64_t)steps[i].thread << 24 | nth[i] << 16 | steps[j].thread << 8 | nth[j];
            sum ^= mixed(pair + 1);
        }
    }
    return sum;
}

static void note_class(struct fake *f)
{
    struct classes *c = f->arg;
    uint64_t this = class_of(f);
    for (size_t i = 0; i < c->count; i++)
        if (c->seen[i] == this) return;
    assert_true(c->count < MOST_CLASSES);
    c->seen[c->count++] = this;
}

static void random_code(char *code, unsigned *seed)
{
    static const char *const ops[] = {"wx", "wy", "rx", "ry", "+x", "rz", "wz"};
    int length = 1 + rand_r(seed) % 3;
    code[0] = '\0';
    for (int i = 0; i < length; i++) {
        if (i) strcat(code, " ");
        strcat(code, ops[(unsigned)rand_r(seed) / 7 % 7]);
    }
}

static void random_programs_against_every_interleaving(void **state)
{
    (void)state;
    static struct fake f;
    static struct classes all;
    unsigned seed = 1;
    for (int i = 0; i < 200; i++) {
        char text[3][12];
        const char *code[FAKE_THREADS] = {text[0], text[1], text[2]};
        for (int t = 0; t < 3; t++) random_code(text[t], &seed);
        fake_init(&f, MZ_ALG_NONE, false, code);
        all.count = 0;
        f.visit = note_class, f.arg = &all;
        fake_explore(&f);
        fake_release(&f);
        assert_classes(all.count, code);
    }
}

void unit_engine_counts(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counted_by_hand),
        cmocka_unit_test(locks_counted_by_hand),
        cmocka_unit_test(no_reduction_is_every_interleaving),
        cmocka_unit_test(sleep_sets_block),
        cmocka_unit_test(wakeup_trees_are_used_up),
        cmocka_unit_test(sets_counted_by_hand),
        cmocka_unit_test(states_counted_by_hand),
        cmocka_unit_test(random_programs_against_every_interleaving),
    };
    UNIT_GROUP("engine: counts", tests);
}
