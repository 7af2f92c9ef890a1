/* The clock is shared by all threads, and passes by sleeping: read before or after the other slept: 2. Who
 * only sleeps, or only reads it, has no such event.
 * EXPECT every verified 2
 * EXPECT --no-sleep-sets none verified 2
 * EXPECT -DEARLY all error kind=assertion
 * EXPECT -DLATE all error kind=assertion
 * EXPECT -DONLY_READ every verified 1
 * EXPECT -DONLY_SLEEP every verified 1
 * EXPECT -DABSOLUTE every verified 2
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

static void *sleeps(void *arg)
{
#ifdef ABSOLUTE
    struct timespec until = {1000000010, 0};
    clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL);
#elif !defined ONLY_READ
    errno = EDOM;
    sleep(10);
    assert(errno == EDOM);
#endif
    return arg;
}

int main(void)
{
    pthread_t t;
#ifndef ONLY_SLEEP
    time_t before = time(NULL);
#endif
    pthread_create(&t, NULL, sleeps, NULL);
#ifndef ONLY_SLEEP
    time_t passed = time(NULL) - before;
#ifdef ONLY_READ
    assert(passed == 0);
#endif
    assert(passed == 0 || passed == 10);
#ifdef EARLY
    assert(passed == 0);
#endif
#ifdef LATE
    assert(passed == 10);
#endif
#endif
    pthread_join(t, NULL);
    return 0;
}
