/* Reads commute: one execution.
 * EXPECT -DN=2 every verified 1
 * EXPECT -DN=6 all verified 1
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 2
#endif

static _Atomic int x = 3;
static int plain = 4;

static void *read_all(void *arg)
{
    assert(atomic_load(&x) == 3 && plain == 4);
    int expected = 9;
    assert(!atomic_compare_exchange_strong(&x, &expected, 1) && expected == 3);
    return arg;
}

int main(void)
{
    pthread_t t[N];
    for (int i = 0; i < N; i++) pthread_create(&t[i], NULL, read_all, NULL);
    for (int i = 0; i < N; i++) pthread_join(t[i], NULL);
    return 0;
}
