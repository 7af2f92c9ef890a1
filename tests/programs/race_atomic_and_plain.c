/* One thread uses an atomic operation, the other a plain access to the same location: a race, whichever
 * of the two writes.
 * EXPECT -DPLAIN_WRITES all error kind=data-race
 * EXPECT -DPLAIN_READS all error kind=data-race
 * EXPECT -DBOTH_READ every verified 1
 */
#include <pthread.h>

int x;

static void *with_atomic(void *arg)
{
#ifdef PLAIN_READS
    __atomic_store_n(&x, 1, __ATOMIC_SEQ_CST);
#else
    (void)__atomic_load_n(&x, __ATOMIC_SEQ_CST);
#endif
    return arg;
}

static void *plain(void *arg)
{
#ifdef PLAIN_WRITES
    x = 1;
    return arg;
#else
    return x == 2 ? arg : NULL;
#endif
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, with_atomic, NULL);
    pthread_create(&b, NULL, plain, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
