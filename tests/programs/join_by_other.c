/* A thread that is joined by another one than its creator.
 * EXPECT every verified 1
 */
#include <assert.h>
#include <pthread.h>

static pthread_t worker;
static int data;

static void *work(void *arg)
{
    data = 42;
    return arg;
}

static void *joiner(void *arg)
{
    assert(pthread_join(worker, NULL) == 0);
    assert(data == 42);
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&worker, NULL, work, NULL);
    pthread_create(&t, NULL, joiner, NULL);
    pthread_join(t, NULL);
    assert(data == 42);
    return 0;
}
