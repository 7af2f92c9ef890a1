/* The classic: two threads increment a plain integer.
 * EXPECT all error kind=data-race line=12
 * EXPECT sleep error kind=data-race
 */
#include <pthread.h>

static int x;

static void *increment(void *arg)
{
    /* read, add, write */
    x++;
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, increment, NULL);
    pthread_create(&b, NULL, increment, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
