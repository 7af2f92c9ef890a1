/* A thread that spins on a flag waits without a bound; if nobody sets the flag, that is a livelock.
 * With -O2 clang knows that nobody sets the flag, and leaves no read in the loop: opt=0.
 * EXPECT every verified 1
 * EXPECT -DNEVER all error kind=livelock thread=0.1 opt=0
 */
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int flag;

static void *spinner(void *arg)
{
    while (!atomic_load(&flag)) {
    }
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, spinner, NULL);
#ifndef NEVER
    atomic_store(&flag, 1);
#endif
    pthread_join(t, NULL);
    return 0;
}
