/* Atomics of 16 bytes: the two halves change together.
 * OPTIONS -mcx16
 * EXPECT every verified 3
 * EXPECT -DTORN all error kind=assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

typedef unsigned __int128 wide;
#define PAIR(high, low) ((wide)(high) << 64 | (wide)(low))

static _Atomic wide x;

static void *writer(void *arg)
{
#ifdef TORN
    atomic_store(&x, PAIR(1, 0));
#endif
    atomic_store(&x, PAIR(1, 1));
    atomic_fetch_add(&x, PAIR(1, 1));
    return arg;
}

static void *reader(void *arg)
{
    wide v = atomic_load(&x);
    assert((unsigned long)(v >> 64) == (unsigned long)v);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, writer, NULL);
    pthread_create(&b, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    wide expected = PAIR(2, 2);
    assert(atomic_compare_exchange_strong(&x, &expected, 7));
    return 0;
}
