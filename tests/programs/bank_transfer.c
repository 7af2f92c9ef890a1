/* Two transfers between two accounts, each account with its mutex: money is neither made nor lost, and the
 * sum seen under both locks is right.
 * EXPECT every verified 6
 * EXPECT -DUNLOCKED_SUM all error kind=data-race
 */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int balance[2] = {100, 100};

static void transfer(int from, int to, int amount)
{
    pthread_mutex_lock(&lock[0]);
    pthread_mutex_lock(&lock[1]);
    balance[from] -= amount;
    balance[to] += amount;
    pthread_mutex_unlock(&lock[1]);
    pthread_mutex_unlock(&lock[0]);
}

static void *there(void *arg)
{
    transfer(0, 1, 30);
    return arg;
}

static void *back(void *arg)
{
    transfer(1, 0, 20);
    return arg;
}

static void *auditor(void *arg)
{
#ifndef UNLOCKED_SUM
    pthread_mutex_lock(&lock[0]);
    pthread_mutex_lock(&lock[1]);
#endif
    assert(balance[0] + balance[1] == 200);
#ifndef UNLOCKED_SUM
    pthread_mutex_unlock(&lock[1]);
    pthread_mutex_unlock(&lock[0]);
#endif
    return arg;
}

int main(void)
{
    pthread_t t[3];
    pthread_create(&t[0], NULL, there, NULL);
    pthread_create(&t[1], NULL, back, NULL);
    pthread_create(&t[2], NULL, auditor, NULL);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    assert(balance[0] == 90 && balance[1] == 110);
    return 0;
}
