/* Two threads wait in a loop with SIZE bytes on their stacks. The loop is recognised, so the search ends: one execution,
 * whose trace is that of the only store before both last loads.
 * With more than 1 MiB (runtime/loops/local.h) the loop is not recognised.
 * With -O2 clang knows that nobody sets the flag in -DNEVER, and leaves no read in the loop; and it leaves out what is between the ends of a large array: opt=0.
 * EXPECT all verified 1
 * EXPECT -DSIZE=40000 every verified 1
 * EXPECT -DSIZE=300000 all verified 1
 * EXPECT -DSIZE=300000 -j2 optimal verified 1
 * EXPECT -DSIZE=40000 -DNEVER all error kind=livelock opt=0
 * EXPECT -DSIZE=40000 -DPLAIN all error kind=data-race
 * EXPECT -DSIZE=2000000 --max-steps=1000 optimal incomplete opt=0
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef SIZE
#define SIZE 400
#endif

#ifdef PLAIN
static int ready;
#define READY ready
#define SET   ready = 1
#else
static atomic_int ready;
#define READY atomic_load(&ready)
#define SET   atomic_store(&ready, 1)
#endif

static void *wait_here(void *unused)
{
    volatile char room[SIZE];
    room[0] = 1;
    room[SIZE - 1] = 2;
    while (!READY) continue;
    assert(room[0] + room[SIZE - 1] == 3);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, wait_here, NULL);
    pthread_create(&b, NULL, wait_here, NULL);
#ifndef NEVER
    SET;
#endif
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
