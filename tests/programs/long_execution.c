/* Eighty thousand visible operations in one execution, two of them in conflict.
 * EXPECT optimal verified 2
 * EXPECT source verified 2 blocked=0
 * EXPECT dpor verified 2
 * EXPECT --max-steps=1000 all incomplete
 */
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int own[2], shared;

static void *work(void *arg)
{
    for (int i = 0; i < 40000; i++) atomic_fetch_add((_Atomic int *)arg, 1);
    atomic_fetch_add(&shared, 1);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, work, &own[0]);
    pthread_create(&b, NULL, work, &own[1]);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
