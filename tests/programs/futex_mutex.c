/* A mutex made of a futex: 0 free, 1 locked, 2 locked and somebody waits. Broken: the waiter does not say
 * that it waits, so nobody wakes it; or sleeps whatever the value is.
 * EXPECT -DN=2 all verified
 * EXPECT -DN=2 --no-sleep-sets none verified
 * EXPECT -DN=2 -DUNSAID all error kind=deadlock
 * EXPECT -DN=2 -DNO_WAKE all error kind=deadlock
 * EXPECT -DN=2 -DNO_LOCK all error kind=data-race
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Atomic int lock;
static int x;

static void take(void)
{
    int old = 0;
    if (atomic_compare_exchange_strong(&lock, &old, 1)) return;
#ifdef UNSAID
    while (atomic_exchange(&lock, 1)) {
        long r = syscall(SYS_futex, &lock, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
#else
    while (atomic_exchange(&lock, 2)) {
        long r = syscall(SYS_futex, &lock, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
#endif
        assert(r == 0 || errno == EAGAIN);
    }
}

static void give(void)
{
#ifdef NO_WAKE
    atomic_store(&lock, 0);
#else
    if (atomic_exchange(&lock, 0) == 2) {
        long n = syscall(SYS_futex, &lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
        assert(n == 0 || n == 1);
    }
#endif
}

static void *work(void *arg)
{
#ifndef NO_LOCK
    take();
#endif
    x++;
#ifndef NO_LOCK
    give();
#endif
    return arg;
}

int main(void)
{
    pthread_t t[N];
    for (int i = 0; i < N; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < N; i++) pthread_join(t[i], NULL);
    assert(x == N);
    (void)take, (void)give;
    return 0;
}
