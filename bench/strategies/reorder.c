/* N setters store a and then b; a checker must not see one without the other. Depth 2. (After SCTBench, reorder_N.) */
#include "bugs.h"

static atomic_int a, b;

static void *work(void *arg)
{
    if ((intptr_t)arg < N) {
        atomic_store(&a, 1);
        atomic_store(&b, 1);
    } else {
        int x = atomic_load(&a), y = atomic_load(&b);
        assert(x == y);
    }
    return arg;
}

int main(void)
{
    run(N + 1, work);
    return 0;
}
