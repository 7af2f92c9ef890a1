/* Threads that sleep at the same time do not add up: 1 and 3 seconds are 3, whoever wakes first: 2. One
 * after the other, ordered by a semaphore, they do: 4. So do those of one thread: 1 and 3 beside 3 are 4, in
 * the three orders of waking. And what was slept before the threads began. Not reduced, the post of the
 * semaphore comes among them: 3.
 * EXPECT -DSECONDS=3 every verified 2
 * EXPECT -DSECONDS=3 --no-sleep-sets none verified 3
 * EXPECT -DSECONDS=4 -DAFTER every verified 1
 * EXPECT -DSECONDS=4 -DTWICE every verified 3
 * EXPECT -DSECONDS=13 -DEARLIER every verified 2
 * EXPECT -DSECONDS=3 -DMUTEX every verified
 * EXPECT -DSECONDS=3 -DTIMED all verified
 * EXPECT -DSECONDS=4 all error kind=assertion
 * EXPECT -DSECONDS=3 -DAFTER all error kind=assertion
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

static sem_t s;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;

static void count(void)
{
#ifdef MUTEX
    pthread_mutex_lock(&m);
    n++;
    pthread_mutex_unlock(&m);
#else
    (void)m, (void)n;
#endif
}

static void *one(void *arg)
{
    sleep(1);
#ifdef TWICE
    sleep(3);
#endif
    sem_post(&s);
    count();
    return arg;
}

static void *three(void *arg)
{
#ifdef AFTER
    sem_wait(&s);
#endif
#ifdef TIMED
    struct timespec until = {1000000003, 0};
    sem_t never;
    sem_init(&never, 0, 0);
    sem_timedwait(&never, &until);
#else
    sleep(3);
#endif
    count();
    return arg;
}

int main(void)
{
    pthread_t a, b;
    sem_init(&s, 0, 0);
    time_t start = time(NULL);
#ifdef EARLIER
    sleep(10);
#endif
    pthread_create(&a, NULL, one, NULL);
    pthread_create(&b, NULL, three, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(time(NULL) - start == SECONDS);
    return 0;
}
