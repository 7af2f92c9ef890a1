/* A mutex left locked, a condition variable left in use, at the end of an execution: free in the next one.
 * EXPECT every verified 6
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, dynamic;
static _Atomic int x;

static void *work(void *arg)
{
    atomic_fetch_add(&x, 1);
    return arg;
}

int main(void)
{
    pthread_t t[3];
    pthread_mutex_init(&dynamic, NULL);
    pthread_mutex_lock(&m);
    pthread_mutex_lock(&dynamic);
    for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    return 0;
}
