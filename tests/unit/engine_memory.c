/* Tests the interface for memory models: values that the engine supplies, sources in steps, memory orders,
 * going back. The memory model here is only coherence: a read may return the value of any write to the object
 * that is not older than the write that its thread last read from, or made. */
#include "unit.h"

#include <string.h>
#include "fake.h"

/* ---- a memory model: coherence ---- */

static const struct mz_path *path_of(const struct mz_exploration *x) { return (const struct mz_path *)x; }

/* The event that the read or update, event n, has read from; 0: the initial value. */
static mz_number read_from(const struct mz_path *path, mz_number n)
{
    uint32_t source = path->steps[n - 1].source;
    if (source == MZ_SOURCE_INITIAL) return 0;
    if (source != MZ_SOURCE_NEWEST) return source;
    for (n = path->events[n - 1].prev_object; n; n = path->events[n - 1].prev_object)
        if (path->events[n - 1].access == MZ_WRITES) return n;
    return 0;
}

/* Return the newest write to the object that the thread knows: the thread must not read from an older one. */
static mz_number known(const struct mz_path *path, mz_number last, int thread)
{
    for (mz_number n = last; n; n = path->events[n - 1].prev_object) {
        const struct mz_event *e = &path->events[n - 1];
        if (e->thread != thread) continue;
        return e->access == MZ_WRITES ? n : read_from(path, n);
    }
    return 0;
}

static unsigned coherent(const struct mz_exploration *x, int thread, const struct mz_pending *p,
                         mz_number sources[MZ_MOST_SOURCES])
{
    const struct mz_path *path = path_of(x);
    uint32_t object = mz_explore_known_object((struct mz_exploration *)x, p->key);
    mz_number last = object ? mz_explore_last_event(x, object) : 0, oldest = known(path, last, thread);
    unsigned count = 0, writes = 0;
    sources[count++] = MZ_SOURCE_NEWEST;
    if (p->op != MZ_OP_LOAD) return count; /* an update is atomic: it reads the newest */
    for (mz_number n = last; n; n = path->events[n - 1].prev_object) {
        if (path->events[n - 1].access != MZ_WRITES) continue;
        if (n < oldest) return count;
        if (writes++) sources[count++] = n; /* the newest is there already */
    }
    if (writes && !oldest) sources[count++] = MZ_SOURCE_INITIAL;
    return count;
}

static const struct mz_memory_model coherence = {.name = "coherence", .sources = coherent};

/* ---- outcomes ---- */

static unsigned seen_outcomes;

/* Record for two reads whether each saw the initial value. seen_outcomes has one bit for each of the four outcomes. */
static void note_outcome(struct fake *f)
{
    const unsigned *at = f->arg; /* thread and number of each read */
    unsigned a = f->seen[at[0]][at[1]] != 0, b = f->seen[at[2]][at[3]] != 0;
    seen_outcomes |= 1u << (2 * a + b);
}

static unsigned outcomes(const char *const code[FAKE_THREADS], const unsigned at[4], bool weak)
{
    static struct fake f;
    fake_init(&f, MZ_ALG_NONE, false, code);
    if (weak) f.options.memory = &coherence;
    f.visit = note_outcome, f.arg = (void *)at;
    seen_outcomes = 0;
    fake_explore(&f);
    assert_int_equal(mz_explore_ending(f.x), MZ_ENDING_MAXIMAL);
    fake_release(&f);
    return seen_outcomes;
}

enum { BOTH_OLD = 1, OLD_NEW = 2, NEW_OLD = 4, BOTH_NEW = 8 };

static void store_buffering(void **state)
{
    (void)state;
    static const char *const code[FAKE_THREADS] = {"wx ry", "wy rx"};
    static const unsigned at[] = {0, 0, 1, 0};
    assert_int_equal(outcomes(code, at, false), OLD_NEW | NEW_OLD | BOTH_NEW);
    assert_int_equal(outcomes(code, at, true), BOTH_OLD | OLD_NEW | NEW_OLD | BOTH_NEW);
}

static void message_passing(void **state)
{
    (void)state;
    static const char *const code[FAKE_THREADS] = {"wx wy", "ry rx"};
    static const unsigned at[] = {1, 0, 1, 1};
    assert_int_equal(outcomes(code, at, false), BOTH_OLD | OLD_NEW | BOTH_NEW);
    assert_int_equal(outcomes(code, at, true), BOTH_OLD | OLD_NEW | NEW_OLD | BOTH_NEW);
}

static void reads_of_one_variable_stay_in_order(void **state)
{
    (void)state;
    static const char *const code[FAKE_THREADS] = {"wx", "rx rx"};
    static const unsigned at[] = {1, 0, 1, 1};
    assert_int_equal(outcomes(code, at, true), BOTH_OLD | OLD_NEW | BOTH_NEW);
}

static void updates_read_the_newest_value(void **state)
{
    (void)state;
    static const char *const code[FAKE_THREADS] = {"+x", "+x"};
    static const unsigned at[] = {0, 0, 1, 0};
    assert_int_equal(outcomes(code, at, true), OLD_NEW | NEW_OLD);
}

/* ---- schedules with sources ---- */

static enum mz_ending follow(const struct mz_step schedule[4], const struct mz_memory_model *model,
                             uint64_t *read)
{
    static struct fake f;
    fake_init(&f, MZ_ALG_NONE, false, (const char *const[FAKE_THREADS]){"wx wx", "rx rx"});
    f.options.schedule = schedule, f.options.schedule_length = 4;
    f.options.memory = model;
    f.options.deterministic = false;
    fake_execution(&f);
    *read = f.seen[1][0];
    enum mz_ending ending = mz_explore_ending(f.x);
    fake_release(&f);
    return ending;
}

static void follows_a_schedule_with_sources(void **state)
{
    (void)state;
    uint64_t read;
    /* After both stores, the first read gets the value of the first store: choice 1 of its sources. */
    struct mz_step schedule[] = {
        {.thread = 0}, {.thread = 0}, {.thread = 1, .choice = 1, .source = 1}, {.thread = 1}};
    assert_int_equal(follow(schedule, &coherence, &read), MZ_ENDING_MAXIMAL);
    assert_int_equal(read, 100);
    schedule[2] = (struct mz_step){.thread = 1, .choice = 2, .source = MZ_SOURCE_INITIAL};
    assert_int_equal(follow(schedule, &coherence, &read), MZ_ENDING_MAXIMAL);
    assert_int_equal(read, 0);
    schedule[2] = (struct mz_step){.thread = 1};
    assert_int_equal(follow(schedule, &coherence, &read), MZ_ENDING_MAXIMAL);
    assert_int_equal(read, 103);
}

static void refuses_a_source_that_does_not_fit(void **state)
{
    (void)state;
    uint64_t read;
    struct mz_step schedule[] = {
        {.thread = 0}, {.thread = 0}, {.thread = 1, .choice = 1, .source = 2}, {.thread = 1}};
    assert_int_equal(follow(schedule, &coherence, &read), MZ_ENDING_DIVERGED);
    /* Without a memory model there is no source but the newest. */
    schedule[2] = (struct mz_step){.thread = 1, .source = 1};
    assert_int_equal(follow(schedule, NULL, &read), MZ_ENDING_DIVERGED);
}

/* ---- what the engine knows of an event ---- */

static void check_events(struct fake *f)
{
    const struct mz_path *path = path_of(f->x);
    uint32_t object = mz_explore_known_object(f->x, fake_key('x'));
    for (uint32_t k = 0; k < path->depth; k++) {
        const struct mz_event *e = &path->events[k];
        bool reads = e->op == MZ_OP_LOAD;
        assert_int_equal(e->order, e->op == MZ_OP_LOCK ? 0 : reads ? __ATOMIC_ACQUIRE : __ATOMIC_RELEASE);
        if (reads) assert_int_equal(mz_explore_value(f->x, object, k + 1), e->old);
        if (e->op == MZ_OP_RMW) assert_int_equal(mz_explore_value(f->x, object, k + 1), e->old + 1);
    }
    assert_int_equal(mz_explore_value(f->x, object, MZ_SOURCE_INITIAL), 0);
}

static void events_have_orders_and_values(void **state)
{
    (void)state;
    static struct fake f;
    fake_init(&f, MZ_ALG_NONE, false, (const char *const[FAKE_THREADS]){"+x rx", "+x Lm Um"});
    f.options.memory = &coherence;
    f.visit = check_events;
    assert_true(fake_explore(&f) > 6);
    fake_release(&f);
}

/* ---- where to go back to, and where the replay ends ---- */

/* Going back to the branch, or to any node before it, explores the same as starting anew. */
static void going_back_explores_the_same(void **state)
{
    (void)state;
    static const char *const code[FAKE_THREADS] = {"wx ry +x", "wy rx", "Lm +x Um rx"};
    static const enum mz_algorithm algorithms[] = {MZ_ALG_NONE, MZ_ALG_SOURCE, MZ_ALG_OPTIMAL};
    for (unsigned a = 0; a < sizeof algorithms / sizeof *algorithms; a++) {
        static struct fake f;
        fake_init(&f, algorithms[a], true, code);
        uint64_t executions = fake_explore(&f), asleep = f.asleep;
        fake_release(&f);
        for (uint32_t further = 0; further < 3; further++) {
            fake_init(&f, algorithms[a], true, code);
            f.goes_back = true, f.goes_further = further;
            assert_int_equal(fake_explore(&f), executions);
            assert_int_equal(f.asleep, asleep);
            fake_release(&f);
        }
    }
}

static void supplied_values_survive_going_back(void **state)
{
    (void)state;
    static const unsigned at[] = {1, 0, 1, 1};
    for (uint32_t further = 0; further < 3; further++) {
        static struct fake f;
        fake_init(&f, MZ_ALG_NONE, false, (const char *const[FAKE_THREADS]){"wx wy", "ry rx"});
        f.options.memory = &coherence;
        f.visit = note_outcome, f.arg = (void *)at;
        f.goes_back = true, f.goes_further = further;
        seen_outcomes = 0;
        fake_explore(&f);
        assert_int_equal(seen_outcomes, BOTH_OLD | OLD_NEW | NEW_OLD | BOTH_NEW);
        fake_release(&f);
    }
}

void unit_engine_memory(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(store_buffering),
        cmocka_unit_test(message_passing),
        cmocka_unit_test(reads_of_one_variable_stay_in_order),
        cmocka_unit_test(updates_read_the_newest_value),
        cmocka_unit_test(follows_a_schedule_with_sources),
        cmocka_unit_test(refuses_a_source_that_does_not_fit),
        cmocka_unit_test(events_have_orders_and_values),
        cmocka_unit_test(going_back_explores_the_same),
        cmocka_unit_test(supplied_values_survive_going_back),
    };
    UNIT_GROUP("engine: memory models", tests);
}
