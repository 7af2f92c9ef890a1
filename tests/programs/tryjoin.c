/* Whether a thread has ended can be asked: its end is an event then. Not yet, or it has: 2; asked with a
 * time, the same. A loop that asks until it has ended waits without a bound.
 * EXPECT -DASK=pthread_tryjoin_np(t,&result) -DBUSY=EBUSY every verified 2
 * EXPECT -DASK=pthread_timedjoin_np(t,&result,&until) -DBUSY=ETIMEDOUT every verified 2
 * EXPECT -DASK=pthread_clockjoin_np(t,&result,CLOCK_MONOTONIC,&until) -DBUSY=ETIMEDOUT every verified 2
 * EXPECT -DASK=pthread_tryjoin_np(t,&result) -DBUSY=EBUSY -DNEVER all error kind=assertion
 * EXPECT -DASK=pthread_tryjoin_np(t,&result) -DBUSY=EBUSY -DALWAYS all error kind=assertion
 * EXPECT -DASK=pthread_tryjoin_np(t,&result) -DBUSY=EBUSY -DLOOP all verified
 * EXPECT -DASK=pthread_tryjoin_np(t,&result) -DBUSY=EBUSY -DTWICE optimal error kind=api-misuse
 * EXPECT -DASK=pthread_timedjoin_np(t,&result,NULL) -DBUSY=EBUSY -DALWAYS every verified 1
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static int x;

static void *work(void *arg)
{
    x = 1;
    return arg;
}

int main(void)
{
    struct timespec until = {2000000000, 0};
    pthread_t t;
    void *result = NULL;
    pthread_create(&t, NULL, work, &x);
#ifdef LOOP
    while (ASK == EBUSY) {
    }
    int r = 0;
#else
    int r = ASK;
#endif
    (void)until;
    assert(r == 0 || r == BUSY);
#ifdef NEVER
    assert(r != 0);
#endif
#ifdef ALWAYS
    assert(r == 0);
#endif
    if (r) pthread_join(t, &result);
#ifdef TWICE
    pthread_join(t, &result);
#endif
    assert(result == &x && x == 1);
    return 0;
}
