/* Any of three threads runs the function, the others wait for its end and find it done.
 * EXPECT every verified 3
 * EXPECT -DNEVER all error kind=deadlock
 * EXPECT -DBROKEN all error kind=data-race
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t never;
static int runs;

static void run(void)
{
#ifdef NEVER
    sem_wait(&never);
#endif
    runs++;
}

static void *calls(void *unused)
{
#ifdef BROKEN
    if (!runs) run();
#else
    pthread_once(&once, run);
    assert(runs == 1);
#endif
    return unused;
}

int main(void)
{
    pthread_t p, q;
    sem_init(&never, 0, 0);
    pthread_create(&p, NULL, calls, NULL);
    pthread_create(&q, NULL, calls, NULL);
    calls(NULL);
    pthread_join(p, NULL);
    pthread_join(q, NULL);
    return 0;
}
