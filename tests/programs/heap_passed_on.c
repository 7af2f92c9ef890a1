/* A block made by one thread and freed by another.
 * EXPECT every verified 2
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic(int *) box;

static void *maker(void *arg)
{
    int *p = malloc(sizeof *p);
    *p = 42;
    atomic_store(&box, p);
    return arg;
}

static void *taker(void *arg)
{
    int *p = atomic_load(&box);
    if (p) {
        assert(*p == 42);
        free(p);
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, maker, NULL);
    pthread_create(&b, NULL, taker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
