/* Load buffering: not both loads can see the other's later store. Three classes.
 * EXPECT every verified 3
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int x, y;
static int r1, r2;

static void *left(void *arg)
{
    r1 = atomic_load(&y);
    atomic_store(&x, 1);
    return arg;
}

static void *right(void *arg)
{
    r2 = atomic_load(&x);
    atomic_store(&y, 1);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, left, NULL);
    pthread_create(&b, NULL, right, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(!(r1 && r2));
    return 0;
}
