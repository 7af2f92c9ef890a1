/* Constructors run once, before main; what they did is part of the initial state.
 * EXPECT every verified 2
 * EXPECT -DTHREAD optimal failed says=pthread_create
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static int prepared, runs;
static _Atomic int x;

__attribute__((constructor)) static void prepare(void)
{
#ifdef THREAD
    pthread_t early;
    pthread_create(&early, NULL, NULL, NULL);
#endif
    prepared = 42;
    runs++;
}

static void *work(void *arg)
{
    atomic_fetch_add(&x, 1);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    assert(prepared == 42 && runs == 1);
    prepared = 0;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
