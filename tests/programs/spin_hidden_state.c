/* Loops that end by what libc keeps for itself, before there is a second thread: no loops that wait.
 * EXPECT every verified 1
 * EXPECT -DCLOCK every verified 1
 * EXPECT -DBROKEN all error kind=assertion
 * EXPECT -DCLOCK -DBROKEN all error kind=assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static _Atomic int x;

static void *work(void *arg)
{
    int value = x;
#ifdef BROKEN
    assert(value != 1);
#else
    assert(value == 1);
#endif
    return arg;
}

int main(void)
{
    pthread_t t;
#ifdef CLOCK
    time_t start = time(NULL);
    while (time(NULL) < start + 3) {
        sleep(1);
        (void)x;
    }
#else
    while (rand() % 7 != 3) (void)x;
#endif
    x = 1;
    pthread_create(&t, NULL, work, NULL);
    pthread_join(t, NULL);
    return 0;
}
