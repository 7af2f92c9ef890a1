/* Two stores to neighbours, each with a hook: the other thread sees the first without the second. gcc -O2 used to make
 * one store of them, behind the second hook.
 * OPTIONS --data-races=allow
 * EXPECT all error kind=assertion
 * EXPECT -O2 all error kind=assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static union {
    int i[3];
    long l;
} d;
static atomic_int a;
static int seen[2];

static void *writes(void *unused)
{
    d.i[1] = 1;
    d.i[2] = 2;
    if (atomic_exchange(&a, 2) == 1) atomic_store(&a, 2);
    return unused;
}

static void *reads(void *unused)
{
    seen[0] = d.i[1];
    seen[1] = d.i[2];
    return unused;
}

int main(void)
{
    pthread_t thread[2];
    pthread_create(&thread[0], NULL, reads, NULL);
    pthread_create(&thread[1], NULL, writes, NULL);
    for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
    assert(!seen[0] || seen[1]);
    return 0;
}
