/* 2008, Table 1, "sharedArray" (after Gueta et al. 2007): two threads that write to different elements
 * of an array, again and again: 21 * 21 states and the end, but no two steps of them are in conflict.
 * The paper's tool makes 98 runs of 18,557 transitions.
 * EXPECT stateful verified states=442 transitions=841
 * EXPECT s-por verified states=42 transitions=41
 * EXPECT de-s-por verified states=42 transitions=41
 * EXPECT dl-s-por verified states=42 transitions=41
 * EXPECT sdpor verified states=42 transitions=41
 * EXPECT all verified 1
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
