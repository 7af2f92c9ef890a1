/* A function with a static variable is not reentrant.
 * EXPECT all error kind=data-race
 */
#include <pthread.h>

static int next_number(void)
{
    static int number;
    return ++number;
}

static void *work(void *arg) { return next_number() > 2 ? arg : NULL; }

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
