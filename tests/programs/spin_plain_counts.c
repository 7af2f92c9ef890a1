/* A loop that waits for a plain variable and counts its rounds is never in the same local state twice. After some
 * seconds of processor time its thread is stopped, and the write of the other thread is a data race.
 * SLOW optimal error kind=data-race
 * SLOW stateful error kind=data-race
 * SLOW -DFOR optimal error kind=data-race
 */
#include <pthread.h>

static int ready;

static void *waits(void *arg)
{
    volatile int rounds = 0;
#ifdef FOR
    for (rounds = 0; rounds < 1000000000; rounds++)
        if (ready) break;
#else
    while (!ready) rounds++;
#endif
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, waits, NULL);
    ready = 1;
    pthread_join(t, NULL);
    return 0;
}
