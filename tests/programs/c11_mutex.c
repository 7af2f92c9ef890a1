/* C11 mutexes: plain, recursive, timed. Tried: before, while the other holds it, after: 3. Deadlocks and
 * races are those of POSIX.
 * EXPECT every verified 2
 * EXPECT -DTRY every verified 3
 * EXPECT -DTIMED every verified 3
 * EXPECT -DTRY --no-sleep-sets none verified 3
 * EXPECT -DTRY -DNEVER all error kind=assertion
 * EXPECT -DCROSSWISE all error kind=deadlock
 * EXPECT -DNO_LOCK all error kind=data-race
 * EXPECT -DTWICE all error kind=deadlock thread=0
 * EXPECT -DDESTROYED optimal error kind=api-misuse
 */
#include <assert.h>
#include <threads.h>
#include <time.h>

static mtx_t m, n, recursive;
static int x;

static int work(void *arg)
{
    (void)arg;
#ifdef CROSSWISE
    mtx_lock(&n);
#endif
#ifdef TRY
    int r = mtx_trylock(&m);
    assert(r == thrd_success || r == thrd_busy);
#elif defined TIMED
    struct timespec until = {2000000000, 0};
    int r = mtx_timedlock(&m, &until);
    assert(r == thrd_success || r == thrd_timedout);
#elif defined NO_LOCK
    int r = thrd_error;
    x++;
#else
    int r = mtx_lock(&m);
#endif
#ifdef NEVER
    assert(r == thrd_success);
#endif
    if (r == thrd_success) {
        x++;
        assert(mtx_unlock(&m) == thrd_success);
    }
#ifdef CROSSWISE
    mtx_unlock(&n);
#endif
    return 7;
}

int main(void)
{
    thrd_t t;
    int result = 0;
    assert(mtx_init(&m, mtx_plain | mtx_timed) == thrd_success && mtx_init(&n, mtx_plain) == thrd_success);
    assert(mtx_init(&recursive, mtx_plain | mtx_recursive) == thrd_success);
    mtx_lock(&recursive);
    mtx_lock(&recursive);
    mtx_unlock(&recursive);
    mtx_unlock(&recursive);
    assert(thrd_create(&t, work, NULL) == thrd_success);
    mtx_lock(&m);
    x++;
#ifdef TWICE
    mtx_lock(&m);
#endif
#ifdef CROSSWISE
    mtx_lock(&n);
    mtx_unlock(&n);
#endif
    mtx_unlock(&m);
    assert(thrd_join(t, &result) == thrd_success && result == 7);
    mtx_destroy(&m);
#ifdef DESTROYED
    mtx_lock(&m);
#endif
    return 0;
}
