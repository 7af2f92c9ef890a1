/* Threads that wait on a futex until it changes; one store and one wake. Each waiter comes before the
 * store, and is woken, or after it or after the wake, and finds another value: 3^N. One that may time out
 * can do so before the store or before the wake: 5. Broken: the wake before the store is lost; one is
 * woken of two, two of three.
 * EXPECT -DN=1 every verified 3
 * EXPECT -DN=2 every verified 9
 * EXPECT -DN=1 --no-sleep-sets none verified 3
 * EXPECT -DN=2 --no-sleep-sets none verified 12
 * EXPECT -DN=1 -DWAKE_FIRST all error kind=deadlock
 * EXPECT -DN=2 -DWAKE=1 all error kind=deadlock
 * EXPECT -DN=2 -DWAKE=2 every verified 9
 * EXPECT -DN=3 -DWAKE=2 all error kind=deadlock
 * EXPECT -DN=1 -DTIMED every verified 5
 * EXPECT -DN=2 -DWAKE=1 -DTIMED all verified
 * EXPECT -DN=1 -DTIMED -DNEVER all error kind=assertion
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef WAKE
#define WAKE INT_MAX
#endif

static _Atomic int word;

static void *waiter(void *arg)
{
    struct timespec *timeout = NULL;
#ifdef TIMED
    struct timespec second = {1, 0};
    timeout = &second;
#endif
    long r = syscall(SYS_futex, &word, FUTEX_WAIT, 0, timeout, NULL, 0);
#ifdef NEVER
    assert(r == 0 || errno != ETIMEDOUT);
#endif
    assert(r == 0 || errno == EAGAIN || (timeout && errno == ETIMEDOUT));
    return arg;
}

static void wake(void)
{
    long n = syscall(SYS_futex, &word, FUTEX_WAKE, WAKE, NULL, NULL, 0);
    assert(n >= 0 && n <= N);
}

int main(void)
{
    pthread_t t[N];
    for (int i = 0; i < N; i++) pthread_create(&t[i], NULL, waiter, NULL);
#ifdef WAKE_FIRST
    wake();
#endif
    atomic_store(&word, 1);
#ifndef WAKE_FIRST
    wake();
#endif
    for (int i = 0; i < N; i++) pthread_join(t[i], NULL);
    return 0;
}
