/* A program that does something else each time cannot be explored; it is told so.
 * A stateful search runs some schedules again from the start to notice it (runtime/rewind/again.c), and always its last one:
 * with ONE there is only one execution, and what differs is a value that nobody looks at. That is named beside the
 * verdict (--strict: incomplete), where the search trusts the hooks: backtrack=auto.
 * EXPECT all error kind=nondeterminism
 * EXPECT -DMORE all error kind=nondeterminism
 * EXPECT -DMORE --backtrack=rerun optimal error kind=nondeterminism
 * EXPECT -DONE --strict stateful incomplete backtrack=auto
 * EXPECT -DONE --strict sdpor incomplete backtrack=auto
 */
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int shared;
_Atomic unsigned long ticks; /* not static: or a compiler leaves out the store */
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
#ifdef ONE
    unsigned low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    atomic_store(&ticks, (unsigned long)high << 32 | low);
#elif defined MORE /* always the same operation, not always as many */
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
#ifdef ONE
    const int n = 1;
#else
    const int n = 3;
#endif
    pthread_t t[3];
    for (int i = 0; i < n; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < n; i++) pthread_join(t[i], NULL);
    (void)random_number;
    return 0;
}
