/* Two workers with a stack of tasks each; who has none left takes one of the other's. Each task is done
 * once.
 * EXPECT all verified
 * EXPECT -DNO_LOCK all error kind=data-race
 * EXPECT -DTWO_LOCKS all error kind=deadlock
 */
#include "classic.h"

#define TASKS 2

static struct {
    pthread_mutex_t lock;
    int tasks[TASKS], count;
} stacks[2] = {{PTHREAD_MUTEX_INITIALIZER, {1, 2}, 2}, {PTHREAD_MUTEX_INITIALIZER, {3}, 1}};
static _Atomic int done;

static int take(int from, int me)
{
    (void)me;
#ifndef NO_LOCK
    pthread_mutex_lock(&stacks[from].lock);
#endif
#ifdef TWO_LOCKS
    if (from != me) pthread_mutex_lock(&stacks[me].lock);
    if (from == me && !stacks[me].count) pthread_mutex_lock(&stacks[1 - me].lock);
#endif
    int task = stacks[from].count ? stacks[from].tasks[--stacks[from].count] : 0;
#ifdef TWO_LOCKS
    if (from != me) pthread_mutex_unlock(&stacks[me].lock);
#endif
#ifndef NO_LOCK
    pthread_mutex_unlock(&stacks[from].lock);
#endif
    return task;
}

static void *worker(void *number)
{
    int me = (int)(intptr_t)number, task;
    while ((task = take(me, me)) || (task = take(1 - me, me))) {
        int before = atomic_fetch_or(&done, 1 << task);
        assert(!(before & 1 << task));
    }
    return NULL;
}

int main(void)
{
    run_threads(2, worker);
    assert(done == (1 << 1 | 1 << 2 | 1 << 3));
    return 0;
}
