/* The thread that runs the function of pthread_once is cancelled by another one, while it waits in there,
 * beside a thread that waits for the function to end: that one runs it then. Without the cancel the
 * semaphore is never posted: a deadlock.
 * EXPECT all verified
 * EXPECT --no-sleep-sets none verified
 * EXPECT -DNESTED all verified
 * EXPECT -DNEVER all error kind=deadlock
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static pthread_once_t once = PTHREAD_ONCE_INIT, inner = PTHREAD_ONCE_INIT;
static sem_t s;
static _Thread_local int mine;
static int done;

static void waits(void)
{
    if (mine) sem_wait(&s);
}

static void first(void)
{
#ifdef NESTED
    pthread_once(&inner, waits);
#else
    (void)inner;
    waits();
#endif
    done++;
}

static void *runs(void *arg)
{
    mine = 1;
    pthread_once(&once, first);
    return arg;
}

static void *also_runs(void *arg)
{
    pthread_once(&once, first);
    assert(done == 1);
    return arg;
}

int main(void)
{
    pthread_t b, t;
    sem_init(&s, 0, 0);
    pthread_create(&t, NULL, runs, NULL);
#ifndef NEVER
    pthread_cancel(t);
#endif
    pthread_create(&b, NULL, also_runs, NULL);
    pthread_join(t, NULL);
    pthread_join(b, NULL);
    return 0;
}
