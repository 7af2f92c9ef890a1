/* What must not be done with a barrier, and what may: using it again after the meeting, with another
 * number after it was destroyed and initialised again. No thread looks at the result of pthread_barrier_wait: 1 class.
 * EXPECT every verified 1
 * EXPECT -DDESTROYED optimal error kind=api-misuse line=30
 * EXPECT -DNEW optimal error kind=api-misuse line=33
 * EXPECT -DWAITED_FOR optimal error kind=api-misuse line=47
 * EXPECT -DINIT_LATE all error kind=data-race
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_barrier_t b, c;

static void *work(void *arg)
{
#ifdef INIT_LATE
    pthread_barrier_init(&c, NULL, 2);
#endif
    pthread_barrier_wait(&b);
    return arg;
}

static void misuse(void)
{
#ifdef DESTROYED
    pthread_barrier_init(&c, NULL, 1);
    pthread_barrier_wait(&c);
    pthread_barrier_destroy(&c);
    pthread_barrier_wait(&c);
#elif defined NEW
    pthread_barrier_t *n = malloc(sizeof *n);
    pthread_barrier_wait(n);
#elif defined WAITED_FOR
    pthread_barrier_destroy(&b); /* whoever comes next, here or there, uses what is destroyed */
#elif defined INIT_LATE
    pthread_barrier_init(&c, NULL, 2);
#endif
}

int main(void)
{
    pthread_t a;
    pthread_barrier_init(&b, NULL, 2);
    pthread_create(&a, NULL, work, NULL);
    misuse();
    pthread_barrier_wait(&b);
    pthread_barrier_destroy(&b); /* all have arrived: the other need not have returned yet */
    pthread_join(a, NULL);
    pthread_barrier_init(&b, NULL, 1);
    assert(pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD);
    (void)c;
    return 0;
}
