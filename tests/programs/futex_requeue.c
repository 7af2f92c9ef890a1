/* FUTEX_CMP_REQUEUE: of two waiters one is woken, the other moves to the second futex and is woken there.
 * If nobody wakes it there it waits for ever; if the value is another one nothing happens.
 * EXPECT all verified
 * EXPECT --no-sleep-sets none verified
 * EXPECT -DNO_WAKE all error kind=deadlock
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Atomic int first, second;

static void *waiter(void *arg)
{
    long r = syscall(SYS_futex, &first, FUTEX_WAIT, 0, NULL, NULL, 0);
    assert(r == 0 || errno == EAGAIN);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    long r;
    pthread_create(&a, NULL, waiter, NULL);
    pthread_create(&b, NULL, waiter, NULL);
    atomic_store(&first, 1);
    r = syscall(SYS_futex, &first, FUTEX_CMP_REQUEUE, 1, INT_MAX, &second, 7);
    assert(r == -1 && errno == EAGAIN);
    r = syscall(SYS_futex, &first, FUTEX_CMP_REQUEUE, 1, INT_MAX, &second, 1);
    assert(r >= 0 && r <= 2);
#ifndef NO_WAKE
    r = syscall(SYS_futex, &second, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    assert(r == 0 || r == 1);
#endif
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
