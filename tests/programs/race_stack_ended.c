/* A thread uses a variable on the stack of another thread, which may have ended. In the order where it has ended, the
 * access is a use of memory that is gone. But it is also a data race with accesses of the owner that the race check has left
 * out until then (runtime/loops/lent.c): the search starts over, and the finding replays.
 * EXPECT all error kind=data-race
 * EXPECT -DREADS all error kind=data-race
 * EXPECT -j2 optimal error kind=data-race
 * EXPECT --keep-going optimal error errors=2
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static int *_Atomic lent;

static void *owner(void *arg)
{
    volatile int variable = 0;
    atomic_store(&lent, (int *)&variable);
    variable = 1;
    return arg;
}

static void *user(void *arg)
{
    int *p = atomic_load(&lent);
#ifdef READS
    if (p && *(volatile int *)p == 7) return NULL;
#else
    if (p) *p = 3;
#endif
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, owner, NULL);
    pthread_create(&b, NULL, user, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
