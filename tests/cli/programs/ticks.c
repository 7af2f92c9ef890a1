#include <pthread.h>
#include <stdatomic.h>
static _Atomic int x, y;
static int odd(void)
{
    unsigned low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return low >> 6 & 1;
}
static void *run(void *arg)
{
    for (int i = 0; i < 4; i++) {
        int e = odd() ? 77 : 0;
        atomic_compare_exchange_strong(&x, &e, 0); /* a write, or only a read */
        atomic_load(&y);
    }
    return arg;
}
int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, run, NULL);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    return 0;
}
