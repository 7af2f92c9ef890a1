/* 2008, Table 1, "sharedArray" (after Gueta et al. 2007): two threads that write to different elements of an
 * array, again and again.
 */
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 20
#endif

static atomic_int a[2];

static void *writer(void *arg)
{
    atomic_int *element = arg;
    for (int i = 0; i < N; i++) atomic_store(element, i);
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, writer, &a[i]);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    return 0;
}
