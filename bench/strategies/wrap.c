/* Two producers of a ring buffer with a torn index: load, then store. A consumer checks the sum. Depth 2, R rounds. */
#include "bugs.h"

static atomic_int index_, slots[64];

static void *work(void *arg)
{
    for (int i = 0; i < R; i++) {
        int at = atomic_load(&index_);
        atomic_store(&index_, at + 1);
        atomic_store(&slots[at % 64], 1);
    }
    return arg;
}

int main(void)
{
    run(2, work);
    assert(atomic_load(&index_) > R + 1); /* nearly every update of one thread is lost */
    return 0;
}
