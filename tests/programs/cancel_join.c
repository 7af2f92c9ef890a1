/* pthread_join is a cancellation point. A thread that waits in it cannot be woken by a cancellation yet:
 * that is refused, not ignored. One that is cancelled before it waits, or that does not want to be, is
 * fine.
 * EXPECT optimal failed says=pthread_join
 * EXPECT -DOFF all verified
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t s;
static pthread_t worker;

static void *work(void *arg)
{
    sem_wait(&s);
    return arg;
}

static void *waits(void *arg)
{
#ifdef OFF
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
#endif
    pthread_join(worker, NULL);
    return arg;
}

int main(void)
{
    pthread_t t;
    void *result = NULL;
    sem_init(&s, 0, 0);
    pthread_create(&worker, NULL, work, NULL);
    pthread_create(&t, NULL, waits, NULL);
    pthread_cancel(t);
    sem_post(&s);
    pthread_join(t, &result);
#ifdef OFF
    assert(result != PTHREAD_CANCELED);
#endif
    return 0;
}
