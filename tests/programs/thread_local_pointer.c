/* The address of a thread-local variable given to another thread: now it is shared.
 * EXPECT all error kind=data-race
 */
#include <pthread.h>
#include <stdatomic.h>

static __thread int mine;
static _Atomic(int *) theirs;

__attribute__((noinline)) static void increment(int *p) { ++*p; }

static void *owner(void *arg)
{
    atomic_store(&theirs, &mine);
    increment(&mine);
    return arg;
}

static void *thief(void *arg)
{
    int *p = atomic_load(&theirs);
    if (p) increment(p);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, owner, NULL);
    pthread_create(&b, NULL, thief, NULL);
    pthread_join(b, NULL);
    pthread_join(a, NULL);
    return 0;
}
