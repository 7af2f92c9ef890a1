/* FUTEX_CMP_REQUEUE: of two waiters one is woken, which one is a choice, the other moves to the second
 * futex and is woken there. Both futexes are one object: a waiter comes before the requeue, the wake on the
 * second one, the store, the wake on the first one, or after it: 5 * 5, and one choice of two: 26. If nobody
 * wakes the second one it waits for ever; if the value is another one nothing happens. With -DNONE woken and
 * one that moves: the same count. With -DATOMIC a thread waits only where the value is not what the requeue
 * expects: it is never moved, as comparing and moving are one operation.
 * EXPECT every verified 26
 * EXPECT -DNONE every verified 26
 * EXPECT --no-sleep-sets none verified
 * EXPECT -DNO_WAKE all error kind=deadlock
 * EXPECT -DOTHER all verified
 * EXPECT -DATOMIC all verified
 * EXPECT -DATOMIC --no-sleep-sets none verified
 * EXPECT -DATOMIC -DVALUE=1 all error kind=assertion
 * EXPECT -DTIMED all verified
 * EXPECT -DTIMED --no-sleep-sets none verified
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

#ifndef VALUE
#define VALUE 0
#endif

static _Atomic int first, second;

static void *waiter(void *arg)
{
    struct timespec *until = NULL;
#ifdef TIMED
    struct timespec limit = {1, 0};
    until = &limit;
#endif
    long r = syscall(SYS_futex, &first, FUTEX_WAIT, 0, until, NULL, 0);
    assert(r == 0 || errno == EAGAIN || (until && errno == ETIMEDOUT));
    return arg;
}

static void *waits_later(void *arg)
{
    syscall(SYS_futex, &first, FUTEX_WAIT, 1, NULL, NULL, 0);
    return arg;
}

static void *changes(void *arg)
{
    atomic_store(&first, 1);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    long r;
#ifdef ATOMIC
    pthread_create(&a, NULL, waits_later, NULL);
    pthread_create(&b, NULL, changes, NULL);
    r = syscall(SYS_futex, &first, FUTEX_CMP_REQUEUE, 0, INT_MAX, &second, VALUE);
    assert(r == 0 || r == -1);
    pthread_join(b, NULL);
#else
    pthread_create(&a, NULL, waiter, NULL);
    pthread_create(&b, NULL, waiter, NULL);
#ifdef OTHER
    r = syscall(SYS_futex, &first, FUTEX_CMP_REQUEUE, 1, INT_MAX, &second, 7);
    assert(r == -1 && errno == EAGAIN);
#endif
#ifdef NONE
    r = syscall(SYS_futex, &first, FUTEX_CMP_REQUEUE, 0, 1, &second, 0);
    assert(r == 0 || r == 1);
#else
    r = syscall(SYS_futex, &first, FUTEX_CMP_REQUEUE, 1, INT_MAX, &second, 0);
    assert(r >= 0 && r <= 2);
#endif
#ifndef NO_WAKE
    r = syscall(SYS_futex, &second, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    assert(r == 0 || r == 1);
#endif
#endif
    atomic_store(&first, 2);
    syscall(SYS_futex, &first, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    pthread_join(a, NULL);
#ifndef ATOMIC
    pthread_join(b, NULL);
#endif
    return 0;
}
