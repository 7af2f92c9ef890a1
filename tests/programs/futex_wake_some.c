/* FUTEX_WAKE of some, but not all, of three waiters: every set of them is a choice. A waiter comes before the
 * wake, after it but before the store, then before the last wake or after it: 4 * 4 * 4 = 64. All three
 * before the wake of two: 3 sets instead of one, 66. With a wake of one: 3 with two before it (9 of the 64
 * cases have 2 sets), 75.
 * EXPECT every verified 66
 * EXPECT -DCOUNT=1 every verified 75
 * EXPECT -DCOUNT=3 every verified 64
 * EXPECT --no-sleep-sets none verified
 * EXPECT -DFORGET all error kind=deadlock
 * EXPECT -DNEVER=0 all error kind=assertion
 * EXPECT -DNEVER=1 all error kind=assertion
 * EXPECT -DNEVER=2 all error kind=assertion
 */
#define _GNU_SOURCE
#include <assert.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef COUNT
#define COUNT 2
#endif

static atomic_int f;
static long slept[3];

static void *waits(void *arg)
{
    *(long *)arg = syscall(SYS_futex, &f, FUTEX_WAIT, 0, NULL) == 0;
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, waits, &slept[i]);
    long first = syscall(SYS_futex, &f, FUTEX_WAKE, COUNT), rest = 0;
    assert(first <= COUNT);
#ifndef FORGET
    atomic_store(&f, 1);
    rest = syscall(SYS_futex, &f, FUTEX_WAKE, INT_MAX);
#endif
#ifdef NEVER
    /* With two woken first and nobody left behind, it is the others. */
    pthread_join(t[NEVER], NULL);
    assert(!(first == 2 && rest == 1 && slept[NEVER]));
#endif
    for (int i = 0; i < 3; i++)
#ifdef NEVER
        if (i != NEVER)
#endif
            pthread_join(t[i], NULL);
    assert(slept[0] + slept[1] + slept[2] == first + rest);
    return 0;
}
