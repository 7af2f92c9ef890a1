/* Synchronization objects that are freed by the last one to use them: no false alarm, whatever they are.
 * EXPECT -DMUTEX every verified
 * EXPECT -DTRYLOCK every verified
 * EXPECT -DSEMAPHORE every verified
 * EXPECT -DBARRIER every verified
 * EXPECT -DRWLOCK every verified
 * EXPECT -DFLAG every verified
 * EXPECT -DRELAXED all error
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>

struct object {
    pthread_mutex_t mutex;
    pthread_rwlock_t lock;
    pthread_barrier_t barrier;
    sem_t semaphore;
    _Atomic int flag;
    int users, data;
};

static void last(struct object *o)
{
    assert(o->data <= 2);
    free(o);
}

static void *use(void *arg)
{
    struct object *o = arg;
#if defined MUTEX || defined TRYLOCK
#ifdef TRYLOCK
    if (pthread_mutex_trylock(&o->mutex) != 0) pthread_mutex_lock(&o->mutex);
#else
    pthread_mutex_lock(&o->mutex);
#endif
    o->data++;
    int left = --o->users;
    pthread_mutex_unlock(&o->mutex);
    if (!left) last(o);
#elif defined RWLOCK
    pthread_rwlock_rdlock(&o->lock);
    int seen = o->data;
    pthread_rwlock_unlock(&o->lock);
    pthread_rwlock_wrlock(&o->lock);
    o->data = seen;
    int left = --o->users;
    pthread_rwlock_unlock(&o->lock);
    if (!left) last(o);
#elif defined BARRIER
    if (pthread_barrier_wait(&o->barrier)) last(o);
#endif
    return NULL;
}

static void *gives(void *arg)
{
    struct object *o = arg;
    o->data = 1;
#ifdef SEMAPHORE
    sem_post(&o->semaphore);
#elif defined FLAG
    atomic_store_explicit(&o->flag, 1, memory_order_release);
#else
    atomic_store_explicit(&o->flag, 1, memory_order_relaxed);
#endif
    return NULL;
}

static void *takes(void *arg)
{
    struct object *o = arg;
#ifdef SEMAPHORE
    sem_wait(&o->semaphore);
    last(o);
#else
    if (atomic_load_explicit(&o->flag, memory_order_acquire)) last(o);
#endif
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    struct object *o = calloc(1, sizeof *o);
    pthread_mutex_init(&o->mutex, NULL);
    pthread_rwlock_init(&o->lock, NULL);
    pthread_barrier_init(&o->barrier, NULL, 2);
    sem_init(&o->semaphore, 0, 0);
    o->users = 2;
#if defined SEMAPHORE || defined FLAG || defined RELAXED
    pthread_create(&a, NULL, gives, o);
    pthread_create(&b, NULL, takes, o);
#else
    pthread_create(&a, NULL, use, o);
    pthread_create(&b, NULL, use, o);
#endif
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    (void)use, (void)gives, (void)takes;
    return 0;
}
