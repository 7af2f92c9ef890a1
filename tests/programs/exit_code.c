/* A status other than 0 is an error, wherever it comes from.
 * EXPECT -DMAIN_RETURNS all error kind=exit-code
 * EXPECT -DMAIN_EXITS all error kind=exit-code
 * EXPECT -DTHREAD_EXITS all error kind=exit-code
 * EXPECT -DQUICK all error kind=exit-code
 * EXPECT every verified 2
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

static _Atomic int x;

static void *work(void *arg)
{
    int old = atomic_fetch_add(&x, 1);
#ifdef THREAD_EXITS
    if (old == 1) exit(3);
#elif defined QUICK
    if (old == 1) _exit(4);
#endif
    return old > 1 ? arg : NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
#ifdef MAIN_RETURNS
    return 7;
#elif defined MAIN_EXITS
    exit(9);
#endif
    return 0;
}
