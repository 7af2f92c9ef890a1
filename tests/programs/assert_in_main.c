/* An assertion that fails in main, after the joins.
 * EXPECT all error kind=assertion thread=0
 * EXPECT -DMZ all error kind=assertion thread=0
 */
#include <mazurka.h>
#include <pthread.h>
#include <stdatomic.h>

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
    pthread_join(a, NULL);
    pthread_join(b, NULL);
#ifdef MZ
    mz_assert(x == 2);
#else
    assert(x == 2);
#endif
    return 0;
}
