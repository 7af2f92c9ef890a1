/* Peterson's algorithm, each thread trying once: never both inside. Without the turn they may be.
 * EXPECT every verified 14
 * EXPECT -DNO_TURN all error kind=data-race
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int flag[2], turn;
static int inside, id[2] = {0, 1};

static void *work(void *arg)
{
    int me = *(int *)arg, other = 1 - me;
#ifdef NO_TURN
    if (!atomic_load(&flag[other])) {
        atomic_store(&flag[me], 1);
#else
    atomic_store(&flag[me], 1);
    atomic_store(&turn, other);
    if (!atomic_load(&flag[other]) || atomic_load(&turn) == me) {
#endif
        inside++;
        assert(inside == 1);
        inside--;
    }
    atomic_store(&flag[me], 0);
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, &id[i]);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    (void)turn;
    return 0;
}
