/* Tests the memory that the workers of a stateful search share (event/finished.h): what is added is found, also while the
 * table grows and while workers die. */
#include "unit.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "event/finished.h"

#define MANY    20000u
#define WRITERS 4u
#define EACH    30000u

static struct mz_finished *memory(void)
{
    void *p = mmap(NULL, mz_finished_size(), PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(p != MAP_FAILED);
    mz_finished_begin(p, 0);
    return p;
}

static void release(struct mz_finished *f) { munmap(f, mz_finished_size()); }

static enum mz_added add(struct mz_finished *f, uint32_t n)
{
    uint64_t key[2] = {(uint64_t)n * 0x9e3779b97f4a7c15u, n};
    return mz_finished_add(f, key, n ^ 5);
}

static bool is_there(struct mz_finished *f, uint32_t n)
{
    uint64_t key[2] = {(uint64_t)n * 0x9e3779b97f4a7c15u, n};
    uint32_t future;
    if (!mz_finished_find(f, key, &future)) return false;
    assert_int_equal(future, n ^ 5);
    return true;
}

static void what_is_added_is_found(void **state)
{
    (void)state;
    struct mz_finished *f = memory();
    for (uint32_t n = 0; n < MANY; n++) {
        assert_false(is_there(f, n));
        assert_int_equal(add(f, n), MZ_ADDED);
        assert_int_equal(add(f, n), MZ_ADDED_BEFORE);
    }
    for (uint32_t n = 0; n < MANY; n++) assert_true(is_there(f, n));
    assert_false(is_there(f, MANY));
    release(f);
}

static void a_limit_ends_growth(void **state)
{
    (void)state;
    struct mz_finished *f = memory();
    uint32_t added = 0, found = 0;
    mz_finished_begin(f, 1 << 18);
    for (uint32_t n = 0; n < MANY; n++) added += add(f, n) == MZ_ADDED;
    for (uint32_t n = 0; n < MANY; n++) found += is_there(f, n);
    assert_true(added < MANY && added > 1000);
    assert_int_equal(found, added);
    assert_true(mz_finished_memory(f) <= 1 << 18);
    release(f);
}

/* Each writer adds its own states and some of all, and says how far it has come. Two of them are killed. */
static void write_and_tell(struct mz_finished *f, uint32_t writer, volatile uint32_t *done)
{
    for (uint32_t n = 0; n < EACH; n++) {
        struct mz_fact fact = {.kind = MZ_FACT_KEY, .small = {writer, n}};
        if (n % 64 == 0 && !mz_finished_tell(f, &fact)) _exit(1);
        add(f, n);
        if (add(f, EACH * (writer + 1) + n) == MZ_ADDED_NOT)
            _exit(0); /* a dead writer was copying the table */
        *done = n + 1;
    }
    _exit(0);
}

static void deaths_lose_nothing(void **state)
{
    (void)state;
    struct mz_finished *f = memory();
    volatile uint32_t *done = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t pid[WRITERS];
    uint32_t lost = 0, told[WRITERS] = {0};
    for (uint32_t w = 0; w < WRITERS; w++)
        if (!(pid[w] = fork())) write_and_tell(f, w, &done[w]);
    for (int i = 0; i < 100000 && (done[2] < EACH / 3 || done[3] < EACH / 3); i++) usleep(100);
    kill(pid[2], SIGKILL);
    kill(pid[3], SIGKILL);
    for (uint32_t w = 0; w < WRITERS; w++) {
        int status;
        waitpid(pid[w], &status, 0);
        assert_true(w > 1 || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
    }
    mz_finished_worker(f); /* a table may be half copied */
    for (uint32_t n = WRITERS * EACH + EACH; n < WRITERS * EACH + 3 * EACH; n++)
        assert_int_equal(add(f, n), MZ_ADDED);
    for (uint32_t w = 0; w < WRITERS; w++)
        for (uint32_t n = 0; n < done[w]; n++) lost += !is_there(f, EACH * (w + 1) + n);
    assert_int_equal(lost, 0);
    for (uint64_t i = 0; i < mz_finished_told(f); i++) {
        const struct mz_fact *fact = mz_finished_fact(f, i);
        if (fact) told[fact->small[0]]++;
    }
    for (uint32_t w = 0; w < WRITERS; w++) assert_true(told[w] >= (done[w] + 63) / 64);
    munmap((void *)done, 4096);
    release(f);
}

/* A fact that is being written does not hold up a reader. */
static void sets_and_facts_come_back(void **state)
{
    (void)state;
    struct mz_finished *f = memory();
    struct mz_shared_elem elems[3] = {{.key = 7, .thread = 1}, {.key = 8}, {.key = 9, .op = 4}};
    uint32_t count, number = mz_finished_put_set(f, elems, 3);
    assert_true(number != 0 && mz_finished_set(f, 0, &count) == NULL);
    assert_memory_equal(mz_finished_set(f, number, &count), elems, sizeof elems);
    assert_int_equal(count, 3);
    assert_true(mz_finished_fact(f, 0) == NULL); /* makes the place void */
    struct mz_fact fact = {.kind = MZ_FACT_USER, .small = {1, 2}, .words = {3, 4, 5, 6, 7, 8}};
    assert_true(mz_finished_tell(f, &fact));
    assert_int_equal(mz_finished_told(f), 2);
    assert_memory_equal(mz_finished_fact(f, 1)->words, fact.words, sizeof fact.words);
    release(f);
}

static void what_is_saved_is_loaded(void **state)
{
    (void)state;
    struct mz_finished *f = memory(), *g = memory();
    size_t room = (size_t)8 << 20;
    struct mz_message m = {.data = malloc(room), .capacity = room};
    struct mz_shared_elem elem = {.key = 7};
    struct mz_fact fact = {.kind = MZ_FACT_KEY, .small = {11, 0}};
    uint32_t count, number = mz_finished_put_set(f, &elem, 1);
    for (uint32_t n = 0; n < MANY; n++) add(f, n);
    mz_finished_tell(f, &fact);
    mz_finished_count(f, mz_finished_new_round(f), 12);
    mz_finished_save(f, &m);
    assert_true(mz_finished_load(g, &m) && m.at == m.count);
    for (uint32_t n = 0; n < MANY; n++) assert_true(is_there(g, n));
    assert_memory_equal(mz_finished_set(g, number, &count), &elem, sizeof elem);
    assert_int_equal(mz_finished_fact(g, 0)->small[0], 11);
    assert_int_equal(mz_finished_round(g), 1);
    assert_int_equal(mz_finished_states(g, 1), 12);
    m.at = 0;
    m.count /= 2;
    mz_finished_begin(g, 0);
    assert_false(mz_finished_load(g, &m));
    free(m.data);
    release(f);
    release(g);
}

void unit_event_finished(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_added_is_found),  cmocka_unit_test(a_limit_ends_growth),
        cmocka_unit_test(deaths_lose_nothing),     cmocka_unit_test(sets_and_facts_come_back),
        cmocka_unit_test(what_is_saved_is_loaded),
    };
    unit_group("event/finished", tests, sizeof tests / sizeof *tests);
}
