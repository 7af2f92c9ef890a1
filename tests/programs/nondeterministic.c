/* A program that does something else each time cannot be explored; it is told so.
 * A stateful search that keeps pages may never come the same way twice: search=stateless.
 * EXPECT all error kind=nondeterminism search=stateless
 * EXPECT -DMORE all error kind=nondeterminism search=stateless
 * EXPECT -DMORE --backtrack=rerun optimal error kind=nondeterminism
 */
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int shared;
#ifndef MORE
static _Atomic int x[8];
#endif

/* The processor's clock: no library call that could be made deterministic. */
static unsigned random_number(void)
{
    unsigned low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (unsigned)(((unsigned long)low * 0x9e3779b97f4a7c15ul) >> 61);
}

static void *work(void *arg)
{
#ifdef MORE /* always the same operation, not always as many */
    for (int i = 0; i < 3; i++) atomic_fetch_add(&shared, 1);
    if (random_number() & 1) atomic_fetch_add(&shared, 1);
#else
    for (int i = 0; i < 10; i++) atomic_fetch_add(&x[random_number()], 1);
    atomic_fetch_add(&shared, 1);
#endif
    return arg;
}

int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    return 0;
}
