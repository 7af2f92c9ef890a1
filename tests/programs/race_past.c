/* Two ways lead to the same memory and the same places in the program, and only one of them goes on to a data
 * race: what was ordered by the mutex is past when `ready` is read. What of the past decides about data races
 * belongs to a state, so all algorithms find it.
 * EXPECT every error kind=data-race line=29
 * EXPECT stateful error kind=data-race line=29
 * EXPECT s-por error kind=data-race line=29
 * EXPECT de-s-por error kind=data-race line=29
 * EXPECT dl-s-por error kind=data-race line=29
 * EXPECT sdpor error kind=data-race line=29
 * EXPECT portfolio error kind=data-race line=29
 * EXPECT -DLOCKED optimal verified
 * EXPECT -DLOCKED stateful verified
 * EXPECT -DLOCKED dl-s-por verified
 * EXPECT -DLOCKED sdpor verified
 */
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static atomic_int ready;
int data;

static void *reader(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
#ifndef LOCKED
    if (atomic_load_explicit(&ready, memory_order_relaxed)) data = 2;
#else
    if (atomic_load_explicit(&ready, memory_order_acquire)) data = 2;
#endif
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, reader, NULL);
    data = 1;
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
#ifndef LOCKED
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
#else
    atomic_store_explicit(&ready, 1, memory_order_release);
#endif
    pthread_join(t, NULL);
    return 0;
}
