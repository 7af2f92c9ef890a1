/* What these programs share. Each has one known bug; N is the number of threads that make it rare, R a number of rounds. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#ifndef N
#define N 5
#endif
#ifndef R
#define R 5
#endif

static inline void run(int count, void *(*work)(void *))
{
    pthread_t threads[32];
    for (intptr_t i = 0; i < count; i++) pthread_create(&threads[i], 0, work, (void *)i);
    for (int i = 0; i < count; i++) pthread_join(threads[i], 0);
}
