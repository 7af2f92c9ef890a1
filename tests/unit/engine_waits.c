/* Tests what a thread can do while it waits, and the check that no thread changes the pending operation of another
 * (P2 of engine/program.h). */
#include "unit.h"

#include "engine/exploration.h"
#include "fake.h"

#define MUTEX 0x1000u
#define COND  0x2000u

static struct mz_exploration *new_exploration(const struct mz_view *view)
{
    struct mz_explore_options options = {
        .algorithm = MZ_ALG_OPTIMAL, .sleep_sets = true, .max_steps = 8, .strict = true};
    return mz_explore_new(view, &options);
}

/* Thread 1 waits. */
static const struct mz_view waiting = {
    .alive = 3,
    .enabled = 1,
    .waiting = 2,
    .pending =
        {{.op = MZ_OP_SIGNAL, .key = COND, .choices = 2, .access = MZ_WRITES},
         {.op = MZ_OP_RESUME, .key = MUTEX, .expected = COND, .pc = 7, .choices = 1, .access = MZ_WRITES}},
};

static void a_waiter_is_not_blocked_at_its_mutex(void **state)
{
    (void)state;
    struct mz_exploration *x = new_exploration(&waiting);
    assert_int_equal(mz_pending_of(x, 0)->op, MZ_OP_SIGNAL);
    assert_int_equal(mz_pending_of(x, 1)->op, MZ_OP_NONE);
    mz_explore_free(x);
}

static void a_waiter_that_may_give_up_has_a_timeout(void **state)
{
    (void)state;
    struct mz_view view = waiting;
    view.enabled |= 2;
    struct mz_exploration *x = new_exploration(&view);
    const struct mz_pending *p = mz_pending_of(x, 1);
    assert_int_equal(p->op, MZ_OP_TIMEOUT);
    assert_int_equal(p->key, COND);
    assert_int_equal(p->access, MZ_READS);
    assert_int_equal(p->choices, 1);
    assert_int_equal(p->pc, 7);
    mz_explore_free(x);
}

/* The signal wakes thread 1, which then locks the mutex: `expected` of that event is the signal. */
static void resumes(uint64_t claimed)
{
    struct mz_view view = waiting;
    struct mz_exploration *x = new_exploration(&view);
    mz_explore_begin(x);
    assert_int_equal(mz_explore_next(x).thread, 0);
    mz_explore_commit(x, MZ_WRITES, 2, 0);
    mz_explore_wake(x, 1, 1);
    view.alive = view.enabled = 2;
    view.waiting = 0;
    assert_int_equal(mz_pending_of(x, 1)->op, MZ_OP_RESUME);
    assert_int_equal(mz_explore_next(x).thread, 1);
    view.pending[1].expected = claimed;
    mz_explore_commit(x, MZ_WRITES, 0, 0);
    assert_int_equal(x->trace.events[1].op, MZ_OP_RESUME);
    assert_int_equal(x->trace.events[1].key, MUTEX);
    assert_int_equal(x->trace.events[1].expected, 1);
    assert_true(mz_explore_happens_before(x, 0, 1));
    mz_explore_free(x);
}
static void a_resume_names_the_event_that_woke_it(void **state)
{
    (void)state;
    resumes(1);
}
static void a_resume_that_names_another_event_is_a_bug(void **state)
{
    (void)state;
    expect_assert_failure(resumes(2));
}

static void change_another(struct fake *f)
{
    if (f->view.alive >> 2 & 1) f->view.pending[2].key ^= 64;
}
static void only_a_thread_itself_changes_what_it_does_next(void **state)
{
    (void)state;
    static struct fake f;
    static const char *const code[FAKE_THREADS] = {"wx", "wy", "wz"};
    fake_init(&f, MZ_ALG_OPTIMAL, true, code);
    f.stepped = change_another;
    expect_assert_failure(fake_explore(&f));
}

void unit_engine_waits(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_waiter_is_not_blocked_at_its_mutex),
        cmocka_unit_test(a_waiter_that_may_give_up_has_a_timeout),
        cmocka_unit_test(a_resume_names_the_event_that_woke_it),
        cmocka_unit_test(a_resume_that_names_another_event_is_a_bug),
        cmocka_unit_test(only_a_thread_itself_changes_what_it_does_next),
    };
    UNIT_GROUP("engine: waits", tests);
}
