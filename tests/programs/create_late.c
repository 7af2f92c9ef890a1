/* A thread created after another one has done its work: what happened before is ordered, the rest is not.
 * EXPECT every verified 2
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int x;
static int plain;

static void *first(void *arg)
{
    plain = 1;
    atomic_fetch_add(&x, 1);
    return arg;
}

static void *second(void *arg)
{
    assert(plain == 1);
    atomic_fetch_add(&x, 1);
    return arg;
}

int main(void)
{
    pthread_t a, b, c;
    pthread_create(&a, NULL, first, NULL);
    pthread_join(a, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_create(&c, NULL, second, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    assert(x == 3);
    return 0;
}
