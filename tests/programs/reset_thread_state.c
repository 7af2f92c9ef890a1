/* Thread-local variables and errno start afresh in every execution, for main and for the others.
 * EXPECT every verified 24
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

static __thread int calls = 1;
static __thread int *pointer;
static _Atomic int x;

static void *work(void *arg)
{
    assert(calls == 1 && pointer == NULL && errno == 0);
    calls = 2;
    pointer = &calls;
    errno = 5;
    atomic_fetch_add(&x, 1);
    return arg;
}

int main(void)
{
    pthread_t t[4];
    assert(calls == 1 && pointer == NULL && errno == 0);
    calls = 9;
    errno = 6;
    for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    assert(calls == 9 && errno == 6);
    return 0;
}
