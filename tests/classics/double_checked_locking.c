/* An object made at its first use, by whoever comes first; a look without the lock saves the others the lock.
 * The pointer must be published with release and read with acquire.
 * EXPECT all verified
 * EXPECT -DRELAXED all error kind=data-race
 * EXPECT -DONE_CHECK all error kind=assertion
 */
#include "classic.h"

#ifdef RELAXED
#define PUBLISH memory_order_relaxed
#else
#define PUBLISH memory_order_release
#endif

struct object {
    int value;
};
static struct object *_Atomic instance;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int made;

static struct object *get(void)
{
    struct object *o = atomic_load_explicit(&instance, memory_order_acquire);
    if (o) return o;
    pthread_mutex_lock(&m);
#ifndef ONE_CHECK
    o = atomic_load_explicit(&instance, memory_order_relaxed);
#endif
    if (!o) {
        o = malloc(sizeof *o);
        o->value = 7;
        made++;
        assert(made == 1);
        atomic_store_explicit(&instance, o, PUBLISH);
    }
    pthread_mutex_unlock(&m);
    return o;
}

static void *work(void *unused)
{
    assert(get()->value == 7);
    return unused;
}

int main(void)
{
    run_threads(2, work);
    free(instance);
    return 0;
}
