/* Two threads exchange: the old values form a chain.
 * EXPECT every verified 2
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic long x = 10;
static long got[2];

static void *swap(void *arg)
{
    long *slot = arg;
    *slot = atomic_exchange(&x, 20 + (slot - got));
    return arg;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, swap, &got[i]);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    assert((got[0] == 10 && got[1] == 20 && x == 21) || (got[1] == 10 && got[0] == 21 && x == 20));
    return 0;
}
