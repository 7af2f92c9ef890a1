/* trylock of a normal mutex that the caller holds fails; of a recursive one it succeeds.
 * EXPECT every verified 1
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t normal = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static void *work(void *arg)
{
    pthread_mutex_lock(&normal);
    assert(pthread_mutex_trylock(&normal) == EBUSY);
    pthread_mutex_unlock(&normal);
    pthread_mutex_lock(&recursive);
    assert(pthread_mutex_trylock(&recursive) == 0);
    pthread_mutex_unlock(&recursive);
    pthread_mutex_unlock(&recursive);
    return arg;
}

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, work, NULL);
    pthread_join(a, NULL);
    return 0;
}
