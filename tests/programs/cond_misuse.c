/* What must not be done with a condition variable.
 * EXPECT -DNO_MUTEX optimal error kind=api-misuse line=39
 * EXPECT -DWAITED_FOR optimal error kind=api-misuse line=41
 * EXPECT -DDESTROYED optimal error kind=api-misuse line=44
 * EXPECT -DINIT_LATE all error kind=data-race
 * EXPECT -DMUTEX_DESTROYED optimal error kind=api-misuse line=47
 * EXPECT -DMUTEX_HELD optimal error kind=api-misuse line=50
 */
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER, d;
static int ready;
static _Atomic int waits;

static void *work(void *arg)
{
#ifdef INIT_LATE
    pthread_cond_signal(&d);
#endif
    pthread_mutex_lock(&m);
    atomic_store(&waits, 1);
    while (!ready) pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    return arg;
}

static void misuse(void)
{
#ifdef INIT_LATE
    pthread_cond_init(&d, NULL);
#endif
    pthread_mutex_lock(&m);
    int there = atomic_load(&waits);
    pthread_mutex_unlock(&m);
    if (!there) return;
#ifdef NO_MUTEX
    pthread_cond_wait(&c, &m);
#elif defined WAITED_FOR
    pthread_cond_destroy(&c);
#elif defined DESTROYED
    pthread_cond_destroy(&d);
    pthread_cond_signal(&d);
#elif defined MUTEX_DESTROYED
    pthread_mutex_destroy(&other);
    pthread_mutex_lock(&other);
#elif defined MUTEX_HELD
    pthread_mutex_lock(&other);
    pthread_mutex_destroy(&other);
#endif
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    misuse();
    pthread_mutex_lock(&m);
    ready = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    pthread_join(t, NULL);
    (void)d, (void)other;
    return 0;
}
