/* Two futexes in one object, because they are also read together: who waits on one of them does not wait on
 * the other, and cannot be woken there.
 * EXPECT every verified
 * EXPECT -DWRONG all error kind=deadlock
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static union {
    _Atomic uint64_t both;
    atomic_int half[2];
} x;

static void *waits(void *which)
{
    struct timespec limit = {1, 0};
#ifdef WRONG
    syscall(SYS_futex, which, FUTEX_WAIT, 0, which == &x.half[0] ? NULL : &limit);
#else
    syscall(SYS_futex, which, FUTEX_WAIT, 0, &limit);
#endif
    return NULL;
}

int main(void)
{
    pthread_t p, q, r;
    pthread_create(&p, NULL, waits, &x.half[0]);
    pthread_create(&q, NULL, waits, &x.half[1]);
    pthread_create(&r, NULL, waits, &x.half[1]);
    (void)x.both;
    syscall(SYS_futex, &x.half[1], FUTEX_WAKE, 1);
    syscall(SYS_futex, &x.half[0], FUTEX_WAKE, 1);
    pthread_join(p, NULL);
    pthread_join(q, NULL);
    pthread_join(r, NULL);
    return 0;
}
