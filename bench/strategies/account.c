/* Each thread looks whether there is enough, and takes it later: two of them in between take too much. Depth 2. */
#include "bugs.h"

static atomic_int balance = N - 1;

static void *work(void *arg)
{
    for (int i = 0; i < 1; i++)
        if (atomic_load(&balance) > 0) atomic_fetch_sub(&balance, 1);
    return arg;
}

int main(void)
{
    run(N, work);
    assert(balance >= 0);
    return 0;
}
