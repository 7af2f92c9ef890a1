/* Of N threads that compare and swap from 0, exactly one wins; the others only read. N classes: which one.
 * EXPECT -DN=2 every verified 2
 * EXPECT -DN=3 every verified 3
 * EXPECT -DN=8 optimal verified 8
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 2
#endif

static _Atomic int owner, winners;
static int id[N];

static void *claim(void *arg)
{
    int free = 0, me = *(int *)arg;
    if (atomic_compare_exchange_strong(&owner, &free, me)) {
        assert(atomic_fetch_add(&winners, 1) == 0);
    } else {
        assert(free != 0 && free != me);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[N];
    for (int i = 0; i < N; i++) {
        id[i] = i + 1;
        pthread_create(&t[i], NULL, claim, &id[i]);
    }
    for (int i = 0; i < N; i++) pthread_join(t[i], NULL);
    assert(winners == 1 && owner != 0);
    return 0;
}
