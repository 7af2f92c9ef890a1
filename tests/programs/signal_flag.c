/* A handler sets a volatile flag that its thread waits for. The signal may also end a sleep, or a wait on a
 * semaphore (unless it restarts).
 * EXPECT every verified
 * EXPECT -DBROKEN all error kind=assertion
 * EXPECT -DSLEEP every verified
 * EXPECT -DSEMAPHORE every verified
 * EXPECT -DSEMAPHORE -DNEVER all error kind=assertion
 * EXPECT -DSEMAPHORE -DNEVER -DRESTART every verified
 * EXPECT -DLOST all error kind=deadlock
 * EXPECT -DMUTEX every verified
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

static volatile sig_atomic_t stop, in_update;
static sem_t s, ready;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void handler(int number)
{
    (void)number;
#ifdef BROKEN
    assert(!in_update);
#endif
    stop = 1;
#ifdef MUTEX
    sem_post(&s);
#endif
}

static void *thread(void *unused)
{
#ifdef SLEEP
    const struct timespec second = {1, 0};
    struct timespec left;
    while (!stop) assert(!nanosleep(&second, &left) || (errno == EINTR && left.tv_sec == 1));
#elif defined SEMAPHORE
    if (sem_wait(&s)) {
        assert(errno == EINTR && stop);
#ifdef NEVER
        assert(0);
#endif
    }
#elif defined LOST  /* the signal may come after the look at the flag and before the wait */
    while (!stop) sem_wait(&s);
#elif defined MUTEX /* the handler runs while it waits for the mutex */
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    while (!stop) continue;
#else
    in_update = 1;
    in_update = 0;
    while (!stop) continue;
#endif
    return unused;
}

int main(void)
{
    pthread_t t;
    struct sigaction action = {.sa_handler = handler};
#ifdef RESTART
    action.sa_flags = SA_RESTART;
#endif
    sem_init(&s, 0, 0);
    sem_init(&ready, 0, 0);
    sigaction(SIGUSR1, &action, NULL);
#ifdef MUTEX
    pthread_mutex_lock(&m);
#endif
    pthread_create(&t, NULL, thread, NULL);
    pthread_kill(t, SIGUSR1);
#ifdef MUTEX
    sem_wait(&s);
    pthread_mutex_unlock(&m);
#endif
#ifdef SEMAPHORE
    sem_post(&s);
#endif
    pthread_join(t, NULL);
    return 0;
}
