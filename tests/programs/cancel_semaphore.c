/* sem_wait is a cancellation point: cancelled while it waits a thread does not take anything from the
 * semaphore. It gets the post or the cancel, whichever comes first; if both are there, either.
 * EXPECT -DCANCEL_ONLY all verified
 * EXPECT all verified
 * EXPECT --no-sleep-sets none verified
 * EXPECT -DNEVER all error kind=assertion
 * EXPECT -DALWAYS all error kind=assertion
 * EXPECT -DOTHER all verified
 * EXPECT -DOTHER --no-sleep-sets none verified
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t s;
static int got;

static void *work(void *arg)
{
    sem_wait(&s);
    got = 1;
    return arg;
}

static void *other(void *arg)
{
    sem_wait(&s);
    return arg;
}

int main(void)
{
    pthread_t t, o;
    void *result = NULL;
    int value = -1;
    sem_init(&s, 0, 0);
    pthread_create(&t, NULL, work, NULL);
#ifdef OTHER
    pthread_create(&o, NULL, other, NULL);
#endif
#ifndef CANCEL_ONLY
    sem_post(&s);
#endif
    pthread_cancel(t);
    pthread_join(t, &result);
    assert((result == PTHREAD_CANCELED) == !got);
#ifdef NEVER
    assert(got);
#endif
#ifdef ALWAYS
    assert(!got);
#endif
#ifdef OTHER /* one post for two: the one that is not cancelled may have to wait for a second */
    if (got) sem_post(&s);
    pthread_join(o, NULL);
#else
    (void)o, (void)other;
#endif
    sem_getvalue(&s, &value);
#ifdef CANCEL_ONLY
    assert(value == 0);
#else
    assert(value == !got || value == 0);
#endif
    return 0;
}
