/* A tree of threads: each of two children creates two more, all add to one counter. The leaves come after
 * their parents: 6! / (3 * 3) = 80 orders of the six additions.
 * EXPECT optimal verified 80
 * EXPECT source verified 80 blocked=0
 * EXPECT dpor verified 80
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int x;

static void *leaf(void *arg)
{
    atomic_fetch_add(&x, 1);
    return arg;
}

static void *branch(void *arg)
{
    pthread_t a, b;
    atomic_fetch_add(&x, 1);
    pthread_create(&a, NULL, leaf, NULL);
    pthread_create(&b, NULL, leaf, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, branch, NULL);
    pthread_create(&b, NULL, branch, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(x == 6);
    return 0;
}
