/* N threads call pthread_once: one runs the function, the others find it done, and commute: N classes.
 * What the function wrote is there for all. Calling it again from within is a deadlock; so are two
 * controls whose functions call each other.
 * EXPECT -DN=2 every verified 2
 * EXPECT -DN=3 every verified 3
 * EXPECT -DN=2 --no-sleep-sets none verified 2
 * EXPECT -DN=3 --no-sleep-sets none verified 6
 * EXPECT -DN=2 -DBY_HAND all error kind=data-race
 * EXPECT -DN=2 -DRECURSIVE all error kind=deadlock
 * EXPECT -DN=2 -DCROSSWISE all error kind=deadlock
 * EXPECT -DN=2 -DGUESS all error kind=assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

static pthread_once_t once = PTHREAD_ONCE_INIT, other = PTHREAD_ONCE_INIT;
static int x, runs;
static pthread_t runner;

#ifdef CROSSWISE
static void other_first(void);
static void first(void) { pthread_once(&other, other_first); }
static void other_first(void) { pthread_once(&once, first); }
#else
static void first(void)
{
    runs++;
    x = 5;
    runner = pthread_self();
#ifdef RECURSIVE
    pthread_once(&once, first);
#endif
}
#endif

static void *work(void *arg)
{
#ifdef BY_HAND
    if (!runs) first();
#elif defined CROSSWISE
    if (arg)
        pthread_once(&once, first);
    else
        pthread_once(&other, other_first);
#else
    assert(pthread_once(&once, first) == 0);
#endif
    assert(x == 5 && runs == 1);
    return arg;
}

int main(void)
{
    pthread_t t[N];
    for (int i = 0; i < N; i++) pthread_create(&t[i], NULL, work, (void *)(intptr_t)i);
    for (int i = 0; i < N; i++) pthread_join(t[i], NULL);
#ifdef GUESS
    assert(pthread_equal(runner, t[0]));
#endif
    pthread_once(&once, first);
    assert(runs == 1);
    (void)other, (void)runner;
    return 0;
}
