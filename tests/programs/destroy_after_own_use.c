/* A thread that has finished its own operation on an object may destroy the object: its own operation is not
 * pending any more. Each object of the library in turn; with -DBUSY another thread still waits on it.
 * EXPECT every verified 1
 * EXPECT stateful verified
 * EXPECT -DTRY every verified 1
 * EXPECT -DCANCEL every verified
 * EXPECT -DBUSY all error kind=api-misuse
 * EXPECT -DBUSY stateful error kind=api-misuse
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

static sem_t shared;

static void *wait_for_it(void *unused)
{
    sem_wait(&shared);
    return unused;
}

static void semaphore(void)
{
    sem_t s;
    sem_init(&s, 0, 1);
#ifdef TRY
    const struct timespec past = {0, 0};
    sem_timedwait(&s, &past);
    sem_post(&s);
    sem_trywait(&s);
#else
    sem_wait(&s);
#endif
    sem_destroy(&s);
    sem_init(&s, 0, 0);
    sem_post(&s);
    sem_destroy(&s);
}

static void locks(void)
{
    pthread_mutex_t m;
    pthread_rwlock_t r;
    pthread_spinlock_t l;
    pthread_mutex_init(&m, NULL);
    pthread_rwlock_init(&r, NULL);
    pthread_spin_init(&l, 0);
    pthread_mutex_lock(&m), pthread_mutex_unlock(&m);
    pthread_rwlock_rdlock(&r), pthread_rwlock_unlock(&r);
    pthread_rwlock_wrlock(&r), pthread_rwlock_unlock(&r);
    pthread_spin_lock(&l), pthread_spin_unlock(&l);
    pthread_mutex_destroy(&m);
    pthread_rwlock_destroy(&r);
    pthread_spin_destroy(&l);
}

static void barrier_and_condition(void)
{
    pthread_barrier_t b;
    pthread_cond_t c;
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    const struct timespec past = {0, 0};
    pthread_barrier_init(&b, NULL, 1);
    pthread_barrier_wait(&b);
    pthread_barrier_destroy(&b);
    pthread_cond_init(&c, NULL);
    pthread_cond_signal(&c);
    pthread_mutex_lock(&m);
    pthread_cond_timedwait(&c, &m, &past);
    pthread_mutex_unlock(&m);
    pthread_cond_destroy(&c);
}

int main(void)
{
    pthread_t t;
    sem_init(&shared, 0, 0);
    pthread_create(&t, NULL, wait_for_it, NULL);
    semaphore();
    locks();
    barrier_and_condition();
#ifdef CANCEL
    if (!t) pthread_cancel(t); /* enough to make all waits cancellable */
#endif
#ifndef BUSY
    sem_post(&shared);
    pthread_join(t, NULL);
#endif
    sem_destroy(&shared);
    return 0;
}
