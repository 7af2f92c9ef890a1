/* Peterson's algorithm with plain variables and loops that wait, correct if memory is sequentially
 * consistent. Executions: either thread first, the other one before or after it has set its flag.
 * With optimization the compiler takes the plain reads out of the loops: opt=0.
 * OPTIONS --data-races=allow
 * EXPECT all verified opt=0
 * EXPECT -DNO_TURN all error kind=assertion opt=0
 */
#include <assert.h>
#include <pthread.h>

static int flag[2], turn, inside, id[2] = {0, 1};

static void *work(void *arg)
{
    int me = *(int *)arg;
    flag[me] = 1;
#ifndef NO_TURN
    turn = 1 - me;
#endif
    while (flag[1 - me] && turn == 1 - me) {
    }
    inside++;
    assert(inside == 1);
    inside--;
    flag[me] = 0;
    return arg;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, &id[i]);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    return 0;
}
