/* An assertion that fails in a thread, in one of six classes.
 * EXPECT all error kind=assertion line=16 thread=0.2
 * EXPECT sleep error kind=assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int x;

static void *work(void *arg)
{
    int old = atomic_fetch_add(&x, 1);
    if (arg) {
        /* the second thread is last only if both others came first */
        assert(old < 2);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    int yes = 1;
    for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, work, i == 1 ? &yes : NULL);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    return 0;
}
