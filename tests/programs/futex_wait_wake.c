/* Waits and is woken; or sees the new value, before or after the wake. If nothing but the wake tells it, it
 * may come too late; with a time limit that is three orders again.
 * EXPECT every verified 3
 * EXPECT -DLOST all error kind=deadlock
 * EXPECT -DLOST -DTIMED every verified 3
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static atomic_int x;

static void *waits(void *unused)
{
#ifdef TIMED
    struct timespec limit = {1, 0};
    syscall(SYS_futex, &x, FUTEX_WAIT, 0, &limit);
#else
    syscall(SYS_futex, &x, FUTEX_WAIT, 0, NULL);
#endif
    return unused;
}

int main(void)
{
    pthread_t p;
    pthread_create(&p, NULL, waits, NULL);
#ifndef LOST
    x = 1;
#endif
    syscall(SYS_futex, &x, FUTEX_WAKE, 1);
    pthread_join(p, NULL);
    return 0;
}
