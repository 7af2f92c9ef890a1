/* THREADS threads take one lock ROUNDS times each: as many executions as there are orders, which no search ends. With states
 * there are few: how far each thread is. With FAILS, nearly all random walks fail: the last thread is half done before the
 * first thread has ended. A depth-first search comes to that only after very many executions. */
#include <assert.h>
#include <pthread.h>

#ifndef THREADS
#define THREADS 3
#endif
#ifndef ROUNDS
#define ROUNDS 20
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int first_done;

static void *work(void *number)
{
    long me = (long)number;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_mutex_lock(&lock);
        if (me == 0 && round == ROUNDS - 1) first_done = 1;
#ifdef FAILS
        assert(me != THREADS - 1 || round != ROUNDS / 2 || first_done);
#endif
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    return 0;
}
