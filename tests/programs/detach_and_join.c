/* A thread is used up by one join or one detach: two at a time are found, in whatever order; so are two in
 * a row. Detached in time it runs to its end.
 * EXPECT -DDETACH every verified 2
 * EXPECT -DJOIN_DETACHED optimal error kind=api-misuse
 * EXPECT -DDETACH_JOINED optimal error kind=api-misuse
 * EXPECT -DDETACH_TWICE optimal error kind=api-misuse
 * EXPECT -DAT_ONCE all error
 * EXPECT -DJOIN_JOIN all error
 * EXPECT -DSELF every verified 1
 * EXPECT -DEACH_OTHER all error kind=deadlock
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

static pthread_t worker, second;
static _Atomic int x;

static void *work(void *arg)
{
#ifdef EACH_OTHER
    while (!atomic_load(&x)) {
    }
    pthread_join(second, NULL);
#elif !defined SELF
    atomic_fetch_add(&x, 1);
#endif
    return arg;
}

static void *other(void *arg)
{
#ifdef AT_ONCE
    pthread_detach(worker);
#elif defined JOIN_JOIN || defined EACH_OTHER
    pthread_join(worker, NULL);
#endif
    return arg;
}

int main(void)
{
    pthread_create(&worker, NULL, work, NULL);
    pthread_create(&second, NULL, other, NULL);
#ifdef DETACH
    pthread_detach(worker);
    pthread_join(second, NULL);
    atomic_fetch_add(&x, 1);
#elif defined JOIN_DETACHED
    pthread_detach(worker);
    pthread_join(worker, NULL);
#elif defined DETACH_JOINED
    pthread_join(worker, NULL);
    pthread_detach(worker);
#elif defined DETACH_TWICE
    pthread_detach(worker);
    pthread_detach(worker);
#elif defined AT_ONCE || defined JOIN_JOIN
    pthread_join(worker, NULL);
    pthread_join(second, NULL);
#elif defined EACH_OTHER
    atomic_store(&x, 1);
    pthread_exit(NULL);
#elif defined SELF
    assert(pthread_join(pthread_self(), NULL) == EDEADLK);
    pthread_join(worker, NULL);
    pthread_join(second, NULL);
#endif
    return 0;
}
