/* The baselines of 2008, section 4.2, on tests/random/corpus/sdpor-naive.model as a C program. Stopping at visited states
 * misses the execution in which x ends as 1. The paper's initial solution and SDPOR find it.
 * EXPECT sdpor-naive incomplete says=may.miss
 * EXPECT sdpor-initial error kind=assertion
 * EXPECT sdpor error kind=assertion
 * EXPECT optimal error kind=assertion
 * EXPECT -DALL sdpor-initial verified
 * EXPECT -DALL sdpor verified
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int x;

static void *once(void *arg)
{
    atomic_store(&x, 1);
    return arg;
}

static void *twice(void *arg)
{
    atomic_store(&x, 1);
    atomic_fetch_add(&x, 1);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, once, NULL);
    pthread_create(&b, NULL, twice, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
#ifdef ALL
    assert(x == 1 || x == 2);
#else
    assert(x == 2);
#endif
    return 0;
}
