/* One access races with two others in different places: with --keep-going these are two errors, and
 * the same two places in the other order, or in other threads, are not one more.
 * OPTIONS --keep-going
 * EXPECT all error kind=data-race errors=2
 * EXPECT -DONE all error kind=data-race errors=1
 */
#include <pthread.h>

static int x;
volatile int y;

static void *writes(void *arg)
{
    x = 1;
    return arg;
}

static void *reads(void *arg)
{
    y = x;
    return arg;
}

static void *reads_too(void *arg) { return x ? arg : NULL; }

int main(void)
{
    pthread_t a, b, c;
    pthread_create(&a, NULL, reads, NULL);
#ifdef ONE
    pthread_create(&b, NULL, reads_too, NULL);
    pthread_join(b, NULL);
    pthread_create(&c, NULL, writes, NULL);
#else
    pthread_create(&b, NULL, reads_too, NULL);
    pthread_create(&c, NULL, writes, NULL);
    pthread_join(b, NULL);
#endif
    pthread_join(a, NULL);
    pthread_join(c, NULL);
    return 0;
}
