/* Two threads share a variable that lives on the stack of main.
 * EXPECT all error kind=data-race
 * EXPECT -DONE_EACH every verified 1
 */
#include <assert.h>
#include <pthread.h>

static void *increment(void *arg)
{
    ++*(int *)arg;
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    int local[2] = {0, 0};
#ifdef ONE_EACH
    int *second = &local[1];
#else
    int *second = &local[0];
#endif
    pthread_create(&a, NULL, increment, &local[0]);
    pthread_create(&b, NULL, increment, second);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(local[0] + local[1] == 2);
    return 0;
}
