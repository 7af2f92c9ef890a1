/* What a constructor does to synchronization objects before main counts: the post of a semaphore, locks that main gives
 * back, tries that fail.
 * EXPECT all verified
 * EXPECT -DNO_POST all error kind=deadlock
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
static sem_t s;
static pthread_spinlock_t spin;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int onces, value;
static _Atomic int a;
static void run_once(void) { onces++; }
__attribute__((constructor)) static void before(void)
{
    assert(sem_init(&s, 0, 0) == 0);
    assert(sem_post(&s) == 0);
    assert(sem_post(&s) == 0);
    int v;
    assert(sem_getvalue(&s, &v) == 0 && v == 2);
    assert(sem_wait(&s) == 0);
    assert(sem_trywait(&s) == 0);
    assert(sem_trywait(&s) == -1);
#ifndef NO_POST
    sem_post(&s);
#endif
    pthread_mutex_lock(&m);
    assert(pthread_mutex_trylock(&m) != 0);
    pthread_mutex_unlock(&m);
    pthread_mutex_lock(&m); /* main unlocks */
    pthread_rwlock_rdlock(&rw);
    assert(pthread_rwlock_trywrlock(&rw) != 0);
    pthread_rwlock_unlock(&rw);
    pthread_rwlock_wrlock(&rw);
    assert(pthread_rwlock_tryrdlock(&rw) != 0);
    pthread_spin_init(&spin, 0);
    pthread_spin_lock(&spin);
    assert(pthread_spin_trylock(&spin) != 0);
    pthread_once(&once, run_once);
    pthread_key_create(&key, 0);
    pthread_setspecific(key, &a);
    atomic_fetch_add(&a, 3);
}
static void *work(void *arg)
{
    sem_wait(&s);
    pthread_mutex_lock(&m);
    pthread_spin_lock(&spin);
    value++;
    pthread_spin_unlock(&spin);
    pthread_mutex_unlock(&m);
    pthread_rwlock_rdlock(&rw);
    pthread_rwlock_unlock(&rw);
    pthread_once(&once, run_once);
    return arg;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    assert(pthread_getspecific(key) == &a);
    assert(a == 3);
    assert(pthread_spin_unlock(&spin) == 0);
    assert(pthread_mutex_unlock(&m) == 0);
    assert(pthread_rwlock_unlock(&rw) == 0);
    pthread_join(t, 0);
    assert(value == 1 && onces == 1);
}
