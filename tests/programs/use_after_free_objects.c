/* Mutexes and condition variables in memory that is gone, or that goes while they are in use.
 * EXPECT every verified 2
 * EXPECT -DLOCK_LATE all error kind=use-after-free line=28
 * EXPECT -DUNORDERED all error kind=use-after-free line=20
 * EXPECT -DSIGNAL_LATE all error kind=data-race line=45
 * EXPECT -DLOCK_LATE --keep-going optimal error kind=use-after-free
 */
#include <pthread.h>
#include <stdlib.h>

struct object {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    int done;
};

static void *worker(void *arg)
{
    struct object *o = arg;
    pthread_mutex_lock(&o->mutex);
    o->done = 1;
#ifndef SIGNAL_LATE
    pthread_cond_signal(&o->condition);
#endif
    pthread_mutex_unlock(&o->mutex);
#ifdef LOCK_LATE
    if (!o) return NULL;
    pthread_mutex_lock(&o->mutex);
    pthread_mutex_unlock(&o->mutex);
#endif
#ifdef SIGNAL_LATE
    pthread_cond_signal(&o->condition);
#endif
    return NULL;
}

static void *waiter(void *arg)
{
    struct object *o = arg;
#ifndef UNORDERED
    pthread_mutex_lock(&o->mutex);
    while (!o->done) pthread_cond_wait(&o->condition, &o->mutex);
    pthread_mutex_unlock(&o->mutex);
#endif
    free(o);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    struct object *o = malloc(sizeof *o);
    pthread_mutex_init(&o->mutex, NULL);
    pthread_cond_init(&o->condition, NULL);
    o->done = 0;
    pthread_create(&a, NULL, worker, o);
    pthread_create(&b, NULL, waiter, o);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
