/* --heap=reuse: one thread frees a block, another allocates one of the same size. Either order may come: it
 * gets that block, or another. free synchronizes with the malloc that hands the block out again, so writing
 * to it is no race.
 * EXPECT every verified 1
 * EXPECT --heap=reuse every verified 2
 * EXPECT --heap=reuse -DSAME all error kind=assertion
 * EXPECT --heap=reuse -DOTHER all error kind=assertion
 * EXPECT --heap=reuse -DOTHER_SIZE every verified 1
 * EXPECT --heap=reuse -DSTALE all error
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#ifdef OTHER_SIZE
#define SIZE 100
#else
#define SIZE 24
#endif

static char *block;
static char *volatile remembered;

static void *frees(void *arg)
{
    block[0] = 1;
    free(block);
#ifdef STALE
    block[1] = 2;
#endif
    return arg;
}

static void *allocates(void *arg)
{
    volatile char *p = malloc(SIZE);
    for (int i = 0; i < SIZE; i++) p[i] = 2;
#ifdef SAME
    assert(p == remembered);
#endif
#ifdef OTHER
    assert(p != remembered);
#endif
    return arg;
}

int main(void)
{
    pthread_t a, b;
    remembered = block = malloc(20);
    pthread_create(&a, NULL, frees, NULL);
    pthread_create(&b, NULL, allocates, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
