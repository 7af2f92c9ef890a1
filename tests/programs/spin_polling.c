/* Loops that ask again and again for what another thread will do: under a mutex, a read-write lock, with
 * trylock, with sem_trywait, sem_getvalue, with timed waits. No bound is needed; if the other never does
 * it, that is a livelock.
 * The functions are `inline` so that compilers leave out those that are not called, also at -O0: in a program that calls
 * trylock, others can notice that a mutex was taken for a moment, so such a round is none that changes nothing.
 * EXPECT -DHOW=mutex all verified
 * EXPECT -DHOW=rwlock all verified
 * EXPECT -DHOW=trylock all verified
 * EXPECT -DHOW=semaphore all verified
 * EXPECT -DHOW=value all verified
 * EXPECT -DHOW=timed all verified
 * EXPECT -DHOW=timedlock all verified
 * EXPECT -DHOW=nested all verified
 * EXPECT -DHOW=mutex -DNEVER all error kind=livelock thread=0.1
 * EXPECT -DHOW=rwlock -DNEVER all error kind=livelock thread=0.1
 * EXPECT -DHOW=trylock -DNEVER all error kind=livelock thread=0.1
 * EXPECT -DHOW=semaphore -DNEVER all error kind=livelock thread=0.1
 * EXPECT -DHOW=value -DNEVER all error kind=livelock thread=0.1
 * EXPECT -DHOW=timed -DNEVER all error kind=livelock thread=0.1
 * EXPECT -DHOW=timedlock -DNEVER all error kind=livelock thread=0.1
 * EXPECT -DHOW=nested -DNEVER all error kind=livelock thread=0.1
 * EXPECT -DHOW=timed -DTWO all verified
 * EXPECT -DHOW=timed -DTWO -DNEVER all error kind=livelock
 * EXPECT -DHOW=mutex -DTWO -DNEVER all error kind=livelock
 */
#define UNUSED                                                                                               \
    __attribute__((unused)) /* left out, also at -O0: a program that calls trylock is another program */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t s;
static int ready;
static const struct timespec until = {2000000000, 0};

static inline int poll_mutex(void)
{
    pthread_mutex_lock(&m);
    int there = ready;
    pthread_mutex_unlock(&m);
    return there;
}

static inline int poll_nested(void)
{
    pthread_mutex_lock(&n);
    int there = poll_mutex();
    pthread_mutex_unlock(&n);
    return there;
}

static inline int poll_rwlock(void)
{
    pthread_rwlock_rdlock(&rw);
    int there = ready;
    pthread_rwlock_unlock(&rw);
    return there;
}

static inline int poll_trylock(void) { return pthread_mutex_trylock(&m) == 0; }
static inline int poll_timedlock(void) { return pthread_mutex_timedlock(&m, &until) == 0; }
static inline int poll_semaphore(void) { return sem_trywait(&s) == 0; }

static inline int poll_value(void)
{
    int value;
    sem_getvalue(&s, &value);
    return value > 0;
}

static inline int poll_timed(void)
{
    pthread_mutex_lock(&m);
    while (!ready) pthread_cond_timedwait(&c, &m, &until);
    pthread_mutex_unlock(&m);
    return 1;
}

#define NAME_(how)   poll_##how
#define NAME(how)    NAME_(how)
#define LOCKED_(how) locked_##how
#define LOCKED(how)  LOCKED_(how)
enum {
    locked_mutex,
    locked_nested = 0,
    locked_rwlock = 0,
    locked_semaphore = 0,
    locked_value = 0,
    locked_timed = 0
};
enum { locked_trylock = 1, locked_timedlock = 1 };

static void *waits(void *arg)
{
    while (!NAME(HOW)()) {
    }
    return arg;
}

int main(void)
{
    pthread_t t, second;
    int locked = LOCKED(HOW);
    sem_init(&s, 0, 0);
    if (locked) pthread_mutex_lock(&m);
    pthread_create(&t, NULL, waits, NULL);
#ifdef TWO
    pthread_create(&second, NULL, waits, NULL);
#endif
#ifndef NEVER
    if (locked) {
        pthread_mutex_unlock(&m);
    } else {
        pthread_mutex_lock(&n);
        pthread_mutex_lock(&m);
        pthread_rwlock_wrlock(&rw);
        ready = 1;
        pthread_rwlock_unlock(&rw);
        pthread_cond_broadcast(&c);
        pthread_mutex_unlock(&m);
        pthread_mutex_unlock(&n);
        sem_post(&s);
    }
#endif
    pthread_join(t, NULL);
#ifdef TWO
    pthread_join(second, NULL);
#else
    (void)second;
#endif
    return 0;
}
