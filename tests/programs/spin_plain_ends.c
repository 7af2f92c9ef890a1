/* Two threads wait for plain variables, one after the other, in a loop of several reads: with the variables made visible
 * one by one, the first is set and the second thread goes on. Tried once more, a loop that was stopped may end.
 * EXPECT --data-races=allow all verified
 * EXPECT -O0 --data-races=allow all verified
 * EXPECT -DNEVER --data-races=allow all error kind=livelock
 * EXPECT -O0 all error kind=data-race
 */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int guard;
static volatile int first, second, third;

static void *waits(void *unused)
{
    while (!first || !second || !third) continue;
    return unused;
}

static void *sets(void *unused)
{
    first = 1;
    atomic_fetch_add(&guard, 1);
    second = 1;
#ifndef NEVER
    third = 1;
#endif
    return unused;
}

int main(void)
{
    pthread_t t, u;
    pthread_create(&t, NULL, waits, NULL);
    pthread_create(&u, NULL, sets, NULL);
    pthread_join(u, NULL);
    pthread_join(t, NULL);
    return 0;
}
