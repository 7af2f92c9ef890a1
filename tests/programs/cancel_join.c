/* pthread_join is a cancellation point: a thread that waits in it is woken, and the thread that it waited for
 * can be joined by somebody else. Here the worker ends only after the cancel: the waiting thread is cancelled
 * before it waits or while it does: 2. With -DFREE the worker may end at any time: cancelled before it waits;
 * woken by the cancel; by the end of the worker, before it hears of the cancel or after: 4. With -DHANDLER
 * the worker ends only because the handler lets it; not cancelled (-DFORGOTTEN), that is a deadlock. Who
 * joins the worker again though it has been joined finds an error in those with -DFREE where it was.
 * EXPECT every verified 2
 * EXPECT -DFREE every verified 4
 * EXPECT -DFREE --no-sleep-sets none verified
 * EXPECT -DHANDLER every verified 2
 * EXPECT -DHANDLER -DFORGOTTEN all error kind=deadlock
 * EXPECT -DFREE -DAGAIN all error kind=api-misuse
 * EXPECT -DAGAIN all verified 2
 * EXPECT -DOFF -DFREE all verified
 * EXPECT -DFREE -DNEVER all error kind=assertion
 * EXPECT -DFREE -DALWAYS all error kind=assertion
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t s;
static pthread_t worker;

static void *work(void *arg)
{
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    sem_wait(&s);
    return arg;
}

static void let_go(void *arg)
{
#ifdef HANDLER
    sem_post(arg);
#else
    (void)arg;
#endif
}

static void *waits(void *arg)
{
#ifdef OFF
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
#endif
    pthread_cleanup_push(let_go, &s);
    pthread_join(worker, NULL);
    pthread_cleanup_pop(0);
    return arg;
}

int main(void)
{
    pthread_t t;
    void *result = NULL, *value = NULL;
    int cancelled;
    sem_init(&s, 0, 0);
    pthread_create(&worker, NULL, work, &s);
    pthread_create(&t, NULL, waits, NULL);
#ifdef FREE
    sem_post(&s);
#endif
#ifndef FORGOTTEN
    pthread_cancel(t);
#endif
#if !defined FREE && !defined HANDLER
    sem_post(&s);
#endif
    pthread_join(t, &result);
    cancelled = result == PTHREAD_CANCELED;
#ifdef AGAIN
    cancelled = 1;
#endif
    if (cancelled) {
        assert(!pthread_join(worker, &value));
        assert(value == &s);
    }
#if defined NEVER || defined OFF
    assert(result != PTHREAD_CANCELED);
#endif
#ifdef ALWAYS
    assert(result == PTHREAD_CANCELED);
#endif
    return 0;
}
