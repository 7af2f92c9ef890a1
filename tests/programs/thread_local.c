/* Thread-local variables: one for each thread, with the initial value each time.
 * EXPECT every verified 2
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static __thread int mine = 7;
static _Thread_local char zeros[300];
static _Atomic int turn;

static void *work(void *arg)
{
    assert(mine == 7 && zeros[299] == 0);
    mine += 10 + atomic_fetch_add(&turn, 1);
    zeros[299] = 1;
    assert(mine == 17 || mine == 18);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    assert(mine == 7);
    mine = 1;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(mine == 1 && zeros[299] == 0);
    return 0;
}
