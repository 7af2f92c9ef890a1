/* A loop that sleeps by poll or select until another thread is done is a loop that waits, as with usleep.
 * EXPECT every verified
 * EXPECT -DSELECT every verified
 * EXPECT -DSELECT stateful verified
 * EXPECT -DNEVER all error kind=livelock
 */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/select.h>

_Atomic int done; /* not static: with -DNEVER clang would remove the read */

static void *thread(void *unused)
{
    while (!done) {
#ifdef SELECT
        struct timeval ten = {0, 10000};
        select(0, 0, 0, 0, &ten);
#else
        poll(0, 0, 10);
#endif
    }
    return unused;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
#ifndef NEVER
    done = 1;
#endif
    pthread_join(t, 0);
    return 0;
}
