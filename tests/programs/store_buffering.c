/* Store buffering: sequentially consistent threads cannot both miss the other's store. Three classes.
 * EXPECT every verified 3
 * EXPECT -DBOTH_SEE all error kind=assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int x, y;
static int r1, r2;

static void *left(void *arg)
{
    atomic_store(&x, 1);
    r1 = atomic_load(&y);
    return arg;
}

static void *right(void *arg)
{
    atomic_store(&y, 1);
    r2 = atomic_load(&x);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, left, NULL);
    pthread_create(&b, NULL, right, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
#ifdef BOTH_SEE
    assert(r1 && r2);
#else
    assert(r1 || r2);
#endif
    return 0;
}
