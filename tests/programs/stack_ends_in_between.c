/* The same variable is read twice, with nothing in between but a look at a flag: by then the thread
 * on whose stack it lies may have ended, so the second read must not be taken for a repetition of the
 * first.
 * The stateful algorithms come first to an execution in which the end of the thread races with the read.
 * EXPECT all error kind=use-after-free says=which.has.ended search=stateless
 * EXPECT all error
 * EXPECT -DSTAYS every verified 3
 */
#include <pthread.h>
#include <stdatomic.h>

static _Atomic(int *) shared;
static _Atomic int done;

static void *owner(void *arg)
{
    volatile int local = 1;
    atomic_store(&shared, (int *)&local);
    atomic_store(&done, 1);
#ifdef STAYS
    pthread_join(*(pthread_t *)arg, NULL);
#endif
    return NULL;
}

static void *reader(void *arg)
{
    int *p = atomic_load(&shared);
    if (!p) return arg;
    int sum = *(volatile int *)p;
    if (atomic_load(&done)) sum += *(volatile int *)p;
    return sum < 0 ? NULL : arg;
}

int main(void)
{
    static pthread_t a, b;
    pthread_create(&b, NULL, reader, NULL);
    pthread_create(&a, NULL, owner, &b);
    pthread_join(a, NULL);
#ifndef STAYS
    pthread_join(b, NULL);
#endif
    return 0;
}
