#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
static int value = 3;
static _Atomic(int *) shared = &value;
static void *clear(void *arg) { atomic_store(&shared, NULL); return arg; }
static void *use(void *arg)
{
    int *p = atomic_load(&shared);
    *(volatile int *)p;
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, use, 0);
    pthread_create(&b, 0, clear, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
