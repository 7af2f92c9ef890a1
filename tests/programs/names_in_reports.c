/* Reports name what the program names: variables on stacks with their members, thread-local ones with their
 * thread, blocks of the heap by where they were allocated; and the values of racing accesses.
 * EXPECT -DON_STACK optimal error kind=data-race says=pair.second
 * EXPECT -DTHREAD_LOCAL optimal error kind=data-race says=counter.of.0.1
 * EXPECT -DHEAP optimal error says=8.bytes.into.a.block.of.24.bytes.allocated.by.0.at.names_in_reports.c:58
 * EXPECT -DVALUE optimal error kind=data-race says=value:.42
 * EXPECT -DMUTEX optimal error kind=deadlock says=waits.for.mutex.guard
 * EXPECT -O2 -DON_STACK optimal error kind=data-race says=pair.second
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct pair {
    long first, second;
};
static __thread long counter;
static long *_Atomic shared;
static volatile int value;

static void *change(void *arg)
{
    ++*(long *)arg;
    return NULL;
}

static void *lends(void *arg)
{
    pthread_t t;
    pthread_create(&t, NULL, change, &counter);
    ++counter;
    pthread_join(t, NULL);
    return arg;
}

static void *writes(void *arg)
{
    value = 42;
    return arg;
}

static void *locks(void *arg)
{
    pthread_mutex_lock(arg);
    return NULL;
}

int main(void)
{
    pthread_t a;
#if defined ON_STACK
    struct pair pair = {0, 0};
    pthread_create(&a, NULL, change, &pair.second);
    change(&pair.second);
#elif defined THREAD_LOCAL
    pthread_create(&a, NULL, lends, NULL);
#elif defined HEAP
    long *block = calloc(3, sizeof *block);
    pthread_create(&a, NULL, change, block + 1);
    change(block + 1);
#elif defined VALUE
    pthread_create(&a, NULL, writes, NULL);
    if (value) return 0;
#else
    pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&guard);
    pthread_create(&a, NULL, locks, &guard);
#endif
    pthread_join(a, NULL);
    (void)lends, (void)writes, (void)locks, (void)shared;
    return 0;
}
