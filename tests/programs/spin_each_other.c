/* Two threads that each wait in a loop for the other: neither goes on. Three threads in a circle, likewise.
 * Executions in which the first comes through before the others begin are fine: with two threads those are
 * two.
 * EXPECT every error kind=livelock
 * EXPECT -DTHREADS=3 every error kind=livelock
 * EXPECT -DPOLITE every verified
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#ifndef THREADS
#define THREADS 2
#endif

static _Atomic int wants[THREADS];

static void *work(void *number)
{
    int me = (int)(intptr_t)number;
    wants[me] = 1;
#ifdef POLITE
    if (me == 0)
#endif
        while (wants[(me + 1) % THREADS])
            ;
    wants[me] = 0;
    return NULL;
}

int main(void)
{
    pthread_t t[THREADS];
    for (intptr_t i = 0; i < THREADS; i++) pthread_create(&t[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(t[i], NULL);
    return 0;
}
