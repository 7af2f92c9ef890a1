/* A crash in main, after the threads.
 * EXPECT all error kind=crash
 * EXPECT -DNOW all error kind=crash
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic int x;

static void *set(void *arg)
{
    atomic_store(&x, *(int *)arg);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    int one = 1, two = 2;
    pthread_create(&a, NULL, set, &one);
    pthread_create(&b, NULL, set, &two);
#ifdef NOW
    abort();
#endif
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    if (x == 1) abort();
    return 0;
}
