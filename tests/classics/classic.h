/* What these programs share: threads with numbers, and a critical section that notices company. Its variable
 * is a plain one: a lock that lets two threads in, or does not order them, is found as a data race. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#ifndef N
#define N 2
#endif

static inline void run_threads(int count, void *(*work)(void *))
{
    pthread_t threads[16];
    for (intptr_t i = 0; i < count; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
}

static inline int entered(int add)
{
    static int inside, times;
    inside++;
    assert(inside == 1);
    times += add;
    inside--;
    return times;
}
