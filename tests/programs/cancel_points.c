/* A thread is cancelled at a cancellation point or not at all: with one pthread_testcancel it comes before
 * the cancel or after it: 2. Switched off, or without a point, it never is: 1. Cancelled before it does
 * anything it still runs up to the first point. PTHREAD_CANCELED is what its join gets. (The join is a
 * point, too: main says that it waits and when it does not any more; and the end of the thread is an
 * operation. Not reduced: with the cancel first, main's waiting comes among the point and the end: 3; with
 * the point first, the end comes among the cancel and the waiting: 3.)
 * EXPECT -DPOINT=pthread_testcancel() every verified 2
 * EXPECT -DPOINT=usleep(1) every verified 2
 * EXPECT -DPOINT=pthread_testcancel() --no-sleep-sets none verified 6
 * EXPECT -DPOINT=pthread_testcancel() -DTWICE every verified 3
 * EXPECT -DPOINT=pthread_testcancel() -DOFF -DNEVER every verified 1
 * EXPECT -DPOINT=pthread_testcancel() -DNEVER all error kind=assertion
 * EXPECT -DPOINT=pthread_testcancel() -DALWAYS all error kind=assertion
 * EXPECT -DPOINT=pthread_testcancel() -DOFF -DON_AGAIN every verified 2
 * EXPECT -DPOINT=pthread_testcancel() -DSELF -DALWAYS every verified 1
 */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <unistd.h>

static int passed;

static void *work(void *arg)
{
#ifdef OFF
    int old = -1;
    assert(!pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old) && old == PTHREAD_CANCEL_ENABLE);
    POINT;
#ifdef ON_AGAIN
    assert(!pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old) && old == PTHREAD_CANCEL_DISABLE);
#endif
#endif
#ifdef SELF
    pthread_cancel(pthread_self());
#endif
    POINT;
    passed = 1;
#ifdef TWICE
    POINT;
    passed = 2;
#endif
    return arg;
}

int main(void)
{
    pthread_t t;
    void *result = NULL;
    int end = 1;
#ifdef TWICE
    end = 2;
#endif
    pthread_create(&t, NULL, work, &passed);
#ifndef SELF
    assert(!pthread_cancel(t));
#endif
    pthread_join(t, &result);
    assert(passed == end ? result == &passed : result == PTHREAD_CANCELED);
#ifdef NEVER
    assert(passed);
#endif
#ifdef ALWAYS
    assert(!passed);
#endif
    return 0;
}
