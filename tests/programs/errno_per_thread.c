/* errno belongs to a thread, also when another one runs in between.
 * EXPECT every verified 6
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static _Atomic int x;

static void *bad_close(void *arg)
{
    errno = 0;
    assert(close(-1) == -1);
    atomic_fetch_add(&x, 1);
    atomic_fetch_add(&x, 1);
    assert(errno == EBADF);
    return arg;
}

static void *sets_it(void *arg)
{
    errno = ERANGE;
    atomic_fetch_add(&x, 1);
    errno = EDOM;
    atomic_fetch_add(&x, 1);
    assert(errno == EDOM);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    errno = 0;
    pthread_create(&a, NULL, bad_close, NULL);
    pthread_create(&b, NULL, sets_it, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(errno == 0);
    return 0;
}
