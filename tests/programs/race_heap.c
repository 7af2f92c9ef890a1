/* Two threads share a block of the heap.
 * EXPECT all error kind=data-race
 * EXPECT -DDIFFERENT every verified 1
 */
#include <pthread.h>
#include <stdlib.h>

static void *increment(void *arg)
{
    ++*(long *)arg;
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    long *block = calloc(2, sizeof *block);
#ifdef DIFFERENT
    long *second = block + 1;
#else
    long *second = block;
#endif
    pthread_create(&a, NULL, increment, block);
    pthread_create(&b, NULL, increment, second);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    long sum = block[0] + block[1];
    free(block);
    return sum != 2;
}
