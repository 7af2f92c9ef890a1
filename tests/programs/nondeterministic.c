/* A program that does something else each time cannot be explored; it is told so.
 * EXPECT all error kind=nondeterminism
 */
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int x[8], shared;

/* The processor's clock: no library call that could be made deterministic. */
static unsigned random_number(void)
{
    unsigned low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (unsigned)(((unsigned long)low * 0x9e3779b97f4a7c15ul) >> 61);
}

static void *work(void *arg)
{
    for (int i = 0; i < 10; i++) atomic_fetch_add(&x[random_number()], 1);
    atomic_fetch_add(&shared, 1);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
