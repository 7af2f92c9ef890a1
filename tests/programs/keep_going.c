/* With --keep-going every distinct error is reported, not only the first.
 * OPTIONS --keep-going
 * EXPECT optimal error errors=2
 * EXPECT source error errors=2
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int x;

static void *first(void *arg)
{
    assert(atomic_exchange(&x, 1) != 2);
    return arg;
}

static void *second(void *arg)
{
    assert(atomic_exchange(&x, 2) != 1);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
