/* Loops without any visible operation. Where each round is like the one before, that is found out; else the time
 * limit ends it.
 * EXPECT all error kind=livelock line=20
 * EXPECT stateful error kind=livelock line=20
 * EXPECT -DNOTHING all error kind=livelock line=16
 * EXPECT -DNOTHING stateful error kind=livelock line=16
 * EXPECT -DCOUNTS --time-limit=1 optimal incomplete
 */
#include <pthread.h>

static volatile int always = 1;

static void *work(void *arg)
{
#ifdef NOTHING
    for (;;) __asm__ volatile("" ::: "memory");
#elif defined COUNTS
    for (volatile long n = 0; n >= 0;) n++;
#else
    while (always) {
    }
#endif
    return arg;
}

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, work, NULL);
    pthread_join(a, NULL);
    return 0;
}
