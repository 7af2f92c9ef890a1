/* Locks made of loops that wait: test and set, with exchange or a flag, compare and swap, a ticket lock,
 * and with a pause that yields. Each verified without a bound; without the lock there is a race; a lock
 * that is never given back is a livelock. Rounds in vain are not counted: the sections of N threads have
 * N! orders (of a ticket lock: the order of the tickets). At -O0 a
 * compiler leaves old values in the frame, so a first round in vain may differ from the second and be counted.
 * EXPECT -DKIND=1 -DN=2 every verified
 * EXPECT -DKIND=2 -DN=2 every verified
 * EXPECT -DKIND=3 -DN=2 every verified
 * EXPECT -DKIND=4 -DN=2 every verified 2
 * EXPECT -DKIND=4 -DN=3 all verified
 * EXPECT -O1 -DKIND=4 -DN=3 all verified 6 compiler=gcc
 * EXPECT -DKIND=5 -DN=2 every verified
 * EXPECT -DKIND=1 -DN=3 all verified
 * EXPECT -DKIND=1 -DN=2 -DKEEP all error kind=livelock
 * EXPECT -DKIND=2 -DN=2 -DKEEP all error kind=livelock
 * EXPECT -DKIND=3 -DN=2 -DKEEP all error kind=livelock
 * EXPECT -DKIND=4 -DN=2 -DKEEP all error kind=livelock
 * EXPECT -DKIND=5 -DN=2 -DKEEP all error kind=livelock
 * EXPECT -DKIND=6 -DN=2 all error kind=data-race
 */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static _Atomic int word, next;
static atomic_flag flag = ATOMIC_FLAG_INIT;
static int x;

static void take(void)
{
#if KIND == 1
    while (atomic_exchange(&word, 1)) {
    }
#elif KIND == 2
    while (atomic_flag_test_and_set(&flag)) sched_yield();
#elif KIND == 3
    int expected = 0;
    while (!atomic_compare_exchange_strong(&word, &expected, 1)) expected = 0;
#elif KIND == 4
    int mine = atomic_fetch_add(&next, 1);
    while (atomic_load(&word) != mine) {
    }
#elif KIND == 5 /* look first, then try */
    for (;;) {
        int expected = 0;
        if (!atomic_load(&word) && atomic_compare_exchange_strong(&word, &expected, 1)) break;
    }
#endif
}

static void give(void)
{
#ifdef KEEP
    return;
#endif
#if KIND == 2
    atomic_flag_clear(&flag);
#elif KIND == 4
    atomic_store(&word, atomic_load(&word) + 1);
#else
    atomic_store(&word, 0);
#endif
}

static void *work(void *arg)
{
    take();
    x++;
    give();
    return arg;
}

int main(void)
{
    pthread_t t[N];
    for (int i = 0; i < N; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < N; i++) pthread_join(t[i], NULL);
    assert(x == N);
    return 0;
}
