/* Tests executions one by one: given schedules, limits, data that follows the path, starting over, reuse for
 * another program. */
#include "unit.h"

#include <string.h>
#include "fake.h"

static const char *const racy[FAKE_THREADS] = {"wx", "wx", "wx"};

/* The steps of each execution, as they were when it ended: mz_explore_end() writes the next branch over them. */
struct taken {
    struct mz_step steps[6][3];
    uint32_t count;
};

static void take_steps(struct fake *f)
{
    struct taken *taken = f->arg;
    const struct mz_step *steps;
    assert_true(taken->count < 6);
    assert_int_equal(mz_explore_steps(f->x, &steps), 3);
    memcpy(taken->steps[taken->count++], steps, sizeof *taken->steps);
}

static void follows_a_schedule(void **state)
{
    (void)state;
    static struct fake f;
    static const struct mz_step schedule[] = {{.thread = 2}, {.thread = 0}, {.thread = 1}};
    struct taken taken = {.count = 0};
    fake_init(&f, MZ_ALG_OPTIMAL, true, racy);
    f.options.schedule = schedule, f.options.schedule_length = 3;
    f.visit = take_steps, f.arg = &taken;
    fake_execution(&f);
    assert_memory_equal(taken.steps[0], schedule, sizeof schedule);
    fake_release(&f);
}

static void refuses_a_schedule_that_does_not_fit(void **state)
{
    (void)state;
    static struct fake f;
    static const struct mz_step twice[] = {{.thread = 0}, {.thread = 0}};
    fake_init(&f, MZ_ALG_OPTIMAL, true, racy);
    f.options.schedule = twice, f.options.schedule_length = 2;
    f.options.deterministic = false; /* else it is a bug */
    assert_false(fake_execution(&f));
    assert_int_equal(mz_explore_ending(f.x), MZ_ENDING_DIVERGED);
    fake_release(&f);
}

static void stops_at_the_step_limit(void **state)
{
    (void)state;
    static struct fake f;
    fake_init(&f, MZ_ALG_OPTIMAL, true, racy);
    f.options.max_steps = 2;
    assert_false(fake_execution(&f));
    assert_int_equal(mz_explore_ending(f.x), MZ_ENDING_STEP_LIMIT);
    fake_release(&f);
}

/* No execution is explored twice. */
static void executions_differ(void **state)
{
    (void)state;
    static struct fake f;
    struct taken taken = {.count = 0};
    fake_init(&f, MZ_ALG_OPTIMAL, true, racy);
    f.visit = take_steps, f.arg = &taken;
    assert_int_equal(fake_explore(&f), 6);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < i; j++)
            assert_memory_not_equal(taken.steps[i], taken.steps[j], sizeof *taken.steps);
    fake_release(&f);
}

/* A word that counts the steps of the execution is taken back when the search goes back. */
static uint32_t steps_so_far;
static void count_step(struct fake *f)
{
    if (((const struct mz_path *)f->x)->live) mz_explore_set(f->x, &steps_so_far, steps_so_far + 1);
}
static void check_count(struct fake *f)
{
    (void)f;
    assert_int_equal(steps_so_far, 3);
}

static void words_follow_the_path(void **state)
{
    (void)state;
    static struct fake f;
    steps_so_far = 0;
    fake_init(&f, MZ_ALG_OPTIMAL, true, racy);
    f.stepped = count_step, f.visit = check_count;
    assert_int_equal(fake_explore(&f), 6);
    fake_release(&f);
}

/* After a restart the search explores the same number of executions again. */
static void restart_begins_anew(void **state)
{
    (void)state;
    static struct fake f;
    fake_init(&f, MZ_ALG_OPTIMAL, true, racy);
    fake_execution(&f);
    fake_execution(&f);
    mz_explore_restart(f.x);
    assert_true(mz_explore_restarts(f.x));
    fake_execution(&f);
    f.executions = 0;
    fake_explore(&f);
    assert_int_equal(f.executions, 6);
    assert_int_equal(mz_explore_counters(f.x)->executions, 6);
    fake_release(&f);
}

static void serves_another_program(void **state)
{
    (void)state;
    static struct fake f;
    fake_init(&f, MZ_ALG_OPTIMAL, true, racy);
    assert_int_equal(fake_explore(&f), 6);
    mz_explore_reuse(f.x);
    f.code[2] = NULL, f.executions = 0;
    assert_int_equal(fake_explore(&f), 2);
    fake_release(&f);
}

static void share_of_the_search(void **state)
{
    (void)state;
    static struct fake f;
    uint64_t before = 0;
    fake_init(&f, MZ_ALG_OPTIMAL, true, (const char *const[FAKE_THREADS]){"+x +x", "+x +x", "+x"});
    while (fake_execution(&f)) {
        mz_explore_estimate(f.x);
        uint64_t share = mz_explore_counters(f.x)->work_done;
        assert_true(share <= MZ_NEARLY_ALL_WORK);
        if (share > before) before = share;
    }
    assert_true(before > 0);
    assert_true(mz_explore_memory(f.x) > 0);
    fake_release(&f);
}

void unit_engine_path(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_a_schedule),      cmocka_unit_test(refuses_a_schedule_that_does_not_fit),
        cmocka_unit_test(stops_at_the_step_limit), cmocka_unit_test(executions_differ),
        cmocka_unit_test(words_follow_the_path),   cmocka_unit_test(restart_begins_anew),
        cmocka_unit_test(serves_another_program),  cmocka_unit_test(share_of_the_search),
    };
    UNIT_GROUP("engine: path", tests);
}
