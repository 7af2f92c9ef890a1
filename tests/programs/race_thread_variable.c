/* pthread_create may store the new thread's name after the thread has started.
 * EXPECT all error kind=data-race
 * EXPECT -DJOINED every verified 1
 */
#include <pthread.h>

static pthread_t t;
static volatile int same;

static void *work(void *arg)
{
#ifndef JOINED
    same = pthread_equal(t, pthread_self());
#endif
    return arg;
}

int main(void)
{
    pthread_create(&t, NULL, work, NULL);
    pthread_join(t, NULL);
    return 0;
}
