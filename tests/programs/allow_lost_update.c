/* Plain counters as they are meant: with --data-races=allow the race itself is no error, but the lost
 * update is.
 * EXPECT all error kind=data-race
 * EXPECT --data-races=allow every error kind=assertion
 * EXPECT --data-races=allow -DONE every verified 1
 */
#include <assert.h>
#include <pthread.h>

static int x;

static void *work(void *arg)
{
    x++;
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
#ifdef ONE
    pthread_join(a, NULL);
#endif
    pthread_create(&b, NULL, work, NULL);
#ifndef ONE
    pthread_join(a, NULL);
#endif
    pthread_join(b, NULL);
    assert(x == 2);
    return 0;
}
