/* thrd_join: what the thread returned or gave to thrd_exit, also numbers below 0; errors of a thread that
 * joins itself; misuse of one that was joined or detached. The result is written to by the joining thread.
 * EXPECT every verified 1
 * EXPECT -DTWICE all error kind=api-misuse
 * EXPECT -DDETACHED all error kind=api-misuse
 * EXPECT -DDETACH_LATE all error kind=api-misuse
 * EXPECT -DSHARED all error kind=data-race
 * EXPECT -DCIRCLE all error kind=deadlock
 */
#include <assert.h>
#include <limits.h>
#include <stddef.h>
#include <threads.h>

static int shared;
static thrd_t circle[2];
static mtx_t gate;

static int returns(void *arg) { return *(int *)arg; }
static int exits(void *arg) { thrd_exit(*(int *)arg); }
static int itself(void *arg)
{
    (void)arg;
    return thrd_join(thrd_current(), NULL) == thrd_error ? 1 : 2;
}
static int joins(void *arg)
{
    (void)arg;
    static int seven = 7;
    thrd_t t;
    thrd_create(&t, returns, &seven);
    return thrd_join(t, &shared) == thrd_success;
}
static int other(void *arg)
{
    mtx_lock(&gate);
    mtx_unlock(&gate);
    return thrd_join(circle[arg != NULL], NULL);
}

int main(void)
{
    int values[] = {0, -1, INT_MAX, INT_MIN}, result;
    thrd_t t, u;
    for (int i = 0; i < 4; i++) {
        result = 12;
        thrd_create(&t, i % 2 ? exits : returns, &values[i]);
        assert(thrd_join(t, &result) == thrd_success && result == values[i]);
    }
    thrd_create(&t, itself, NULL);
    assert(thrd_join(t, &result) == thrd_success && result == 1);
#ifdef TWICE
    thrd_join(t, NULL);
#endif
    thrd_create(&t, returns, &values[0]);
#ifdef DETACHED
    assert(thrd_detach(t) == thrd_success);
#endif
    assert(thrd_join(t, NULL) == thrd_success);
#ifdef DETACH_LATE
    thrd_detach(t);
#endif
#ifdef SHARED
    thrd_create(&t, joins, NULL);
    thrd_create(&u, joins, NULL);
    thrd_join(t, NULL);
    thrd_join(u, NULL);
#endif
#ifdef CIRCLE
    mtx_init(&gate, mtx_plain);
    mtx_lock(&gate);
    thrd_create(&circle[0], other, &gate);
    thrd_create(&circle[1], other, NULL);
    mtx_unlock(&gate);
    thrd_exit(0);
#endif
    (void)u, (void)joins, (void)other, (void)gate, (void)circle;
    return 0;
}
