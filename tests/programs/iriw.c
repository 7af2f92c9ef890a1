/* Independent reads of independent writes: two readers never see the two writes in opposite orders. 15 of
 * the 16 combinations are possible.
 * EXPECT every verified 15
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int x, y;
static int a1, a2, b1, b2;

static void *write_x(void *arg)
{
    atomic_store(&x, 1);
    return arg;
}

static void *write_y(void *arg)
{
    atomic_store(&y, 1);
    return arg;
}

static void *read_xy(void *arg)
{
    a1 = atomic_load(&x);
    a2 = atomic_load(&y);
    return arg;
}

static void *read_yx(void *arg)
{
    b1 = atomic_load(&y);
    b2 = atomic_load(&x);
    return arg;
}

int main(void)
{
    static void *(*const start[4])(void *) = {write_x, write_y, read_xy, read_yx};
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, start[i], NULL);
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    assert(!(a1 == 1 && a2 == 0 && b1 == 1 && b2 == 0));
    return 0;
}
