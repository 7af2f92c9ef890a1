/* A local variable is given to a thread that is joined; then the stack is used for something else. No race.
 * EXPECT every verified 1
 */
#include <pthread.h>

static void *increment(void *arg)
{
    ++*(int *)arg;
    return NULL;
}

__attribute__((noinline)) static int first(void)
{
    pthread_t t;
    int v = 1;
    pthread_create(&t, NULL, increment, &v);
    pthread_join(t, NULL);
    return v;
}

__attribute__((noinline)) static int second(void)
{
    pthread_t t;
    int v[4] = {1, 2, 3, 4};
    pthread_create(&t, NULL, increment, &v[2]);
    pthread_join(t, NULL);
    return v[2];
}

int main(void) { return first() + second() + first() - 8; }
