/* Two threads store to one variable, STORES times each. */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x;

static void *f(void *arg)
{
    for (int i = 0; i < STORES; i++) atomic_store(&x, i);
    return arg;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, f, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return 0;
}
