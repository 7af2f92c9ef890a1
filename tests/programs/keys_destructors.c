/* Thread-specific data: each thread has its own values, NULL at first, in every execution; at its end the
 * destructors get those that are not NULL, up to four rounds while they set new ones; a key that was
 * deleted has none. All that happens before the join returns. The main thread has destructors only if it
 * calls pthread_exit.
 * EXPECT every verified 2
 * EXPECT -DMISSING all error kind=assertion
 * EXPECT -DSHARED all error kind=data-race
 */
#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static pthread_key_t counted, again, plain;
static _Atomic int order;
static int destroyed[2], rounds[2], shared;

static void on_counted(void *value)
{
    assert(pthread_getspecific(counted) == NULL);
    destroyed[(intptr_t)value - 1]++;
#ifdef SHARED
    shared++;
#endif
}

static void on_again(void *value)
{
    rounds[(intptr_t)value - 1]++;
    pthread_setspecific(again, value);
}

static void on_deleted(void *value)
{
    (void)value;
    assert(0);
}

static void *work(void *arg)
{
    assert(!pthread_getspecific(counted) && !pthread_getspecific(again) && !pthread_getspecific(plain));
    pthread_setspecific(counted, arg);
    pthread_setspecific(again, arg);
    pthread_setspecific(plain, arg);
    pthread_key_t deleted;
    pthread_key_create(&deleted, on_deleted);
    pthread_setspecific(deleted, arg);
    assert(!pthread_key_delete(deleted));
    atomic_fetch_add(&order, 1);
    assert(pthread_getspecific(counted) == arg && pthread_getspecific(plain) == arg);
    if (arg == (void *)1) pthread_exit(NULL);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    assert(!pthread_key_create(&counted, on_counted) && !pthread_key_create(&again, on_again));
    assert(!pthread_key_create(&plain, NULL));
    assert(!pthread_getspecific(counted));
    pthread_setspecific(counted, &order); /* returns from main: no destructor */
    pthread_create(&a, NULL, work, (void *)1);
    pthread_create(&b, NULL, work, (void *)2);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(rounds[0] == PTHREAD_DESTRUCTOR_ITERATIONS && rounds[1] == PTHREAD_DESTRUCTOR_ITERATIONS);
#ifdef MISSING
    assert(destroyed[0] + destroyed[1] == 1);
#endif
    assert(destroyed[0] == 1 && destroyed[1] == 1);
    (void)shared;
    return 0;
}
