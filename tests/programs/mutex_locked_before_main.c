/* A mutex that a constructor has locked, and that main unlocks: the writer waits for main, which waits for `other`. So the
 * reader may come after the writer.
 *
 * EXPECT every error kind=assertion
 * EXPECT dl-s-por error kind=assertion
 * EXPECT de-s-por error kind=assertion
 * EXPECT sdpor error kind=assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int x;

__attribute__((constructor)) static void begin(void) { pthread_mutex_lock(&m); }

static void *reader(void *arg)
{
    (void)arg;
    assert(atomic_load(&x) == 0);
    return NULL;
}

static void *writer(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&m);
    atomic_store(&x, 1);
    pthread_mutex_unlock(&m);
    return NULL;
}

static void *other(void *arg)
{
    (void)arg;
    (void)atomic_load(&x);
    return NULL;
}

int main(void)
{
    pthread_t a, b, c;
    pthread_create(&a, NULL, reader, NULL);
    pthread_create(&b, NULL, writer, NULL);
    pthread_create(&c, NULL, other, NULL);
    pthread_join(c, NULL);
    pthread_mutex_unlock(&m);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
