/* rand() has one state for all threads: who calls it first gets the first number. 2 orders of one call
 * each; of two each 6.
 * EXPECT -DN=1 every verified 2
 * EXPECT -DN=2 every verified 6
 * EXPECT -DN=2 --no-sleep-sets none verified 6
 * EXPECT -DN=1 -DGUESS all error kind=assertion
 * EXPECT -DN=1 -DOWN every verified 1
 */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static int first[2];

static void *work(void *arg)
{
    unsigned seed = 1;
    for (int i = 0; i < N; i++) {
#ifdef OWN
        int r = rand_r(&seed);
#else
        int r = rand();
        (void)seed;
#endif
        if (i == 0) *(int *)arg = r;
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    srand(5);
    int expected = rand();
    srand(5);
    pthread_create(&a, NULL, work, &first[0]);
    pthread_create(&b, NULL, work, &first[1]);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
#ifndef OWN
    assert(first[0] == expected || first[1] == expected);
#endif
#ifdef GUESS
    assert(first[0] == expected);
#endif
    return 0;
}
