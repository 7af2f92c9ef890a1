/* Assertions that hold, of both kinds; also with NDEBUG, where only mz_assert is left.
 * EXPECT every verified 2
 * EXPECT -DNDEBUG every verified 2
 * EXPECT -DNDEBUG -DFAIL every verified 2
 * EXPECT -DFAIL all error kind=assertion
 */
#include <mazurka.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int x;

static void *add(void *arg)
{
    int old = atomic_fetch_add(&x, 1);
#ifdef FAIL
    assert(old == 0);
#endif
    mz_assert(old < 2);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, add, NULL);
    pthread_create(&b, NULL, add, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    mz_assert(x == 2);
    return 0;
}
