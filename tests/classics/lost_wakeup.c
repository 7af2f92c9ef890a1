/* Going to sleep: the check and the sleep must be one step for whoever wakes, or the wake-up comes in
 * between and is lost. Two orders: the news is there already, or the thread is woken.
 * EXPECT all verified 2
 * EXPECT -DCHECK_OUTSIDE all error kind=deadlock
 * EXPECT -DSEMAPHORE all verified 1
 */
#include "classic.h"

#include <semaphore.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static _Atomic bool ready;
static bool there;
static sem_t s;

static void *sleeper(void *unused)
{
#ifdef SEMAPHORE
    sem_wait(&s); /* it remembers */
#elif defined CHECK_OUTSIDE
    if (!ready) {
        pthread_mutex_lock(&m);
        pthread_cond_wait(&news, &m);
        pthread_mutex_unlock(&m);
    }
#else
    pthread_mutex_lock(&m);
    while (!there) pthread_cond_wait(&news, &m);
    pthread_mutex_unlock(&m);
#endif
    return unused;
}

static void *waker(void *unused)
{
#ifdef SEMAPHORE
    sem_post(&s);
#elif defined CHECK_OUTSIDE
    ready = true;
    pthread_mutex_lock(&m);
    pthread_cond_signal(&news);
    pthread_mutex_unlock(&m);
#else
    pthread_mutex_lock(&m);
    there = true;
    pthread_cond_signal(&news);
    pthread_mutex_unlock(&m);
#endif
    return unused;
}

int main(void)
{
    pthread_t a, b;
    sem_init(&s, 0, 0);
    pthread_create(&a, NULL, sleeper, NULL);
    pthread_create(&b, NULL, waker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
