/* A thread that was stopped in a loop is tried once more at the end of an execution, and wakes another: that is
 * taken back with the rest.
 *
 * EXPECT --backtrack=undo optimal verified
 * EXPECT --backtrack=undo source verified
 * EXPECT --backtrack=rerun optimal verified
 * EXPECT --backtrack=checkpoint optimal verified
 * EXPECT -DWAITED --backtrack=undo optimal error kind=assertion
 * EXPECT -DWAITED --backtrack=undo source error kind=assertion
 * EXPECT -DWAITED all error kind=assertion
 * EXPECT -DWAITED dl-s-por error kind=assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready;
static atomic_int flag, x;

static void *waiter(void *arg)
{
    int waited = 0;
    pthread_mutex_lock(&m);
    while (!ready) pthread_cond_wait(&c, &m), waited = 1;
#ifdef WAITED
    assert(!waited);
#else
    (void)waited;
#endif
    pthread_mutex_unlock(&m);
    return arg;
}

static void *spinner(void *arg)
{
    while (!atomic_load(&flag)) {
    }
    pthread_mutex_lock(&m);
    ready = 1;
    pthread_cond_broadcast(&c);
    pthread_mutex_unlock(&m);
    return arg;
}

static void *noise(void *arg)
{
    atomic_fetch_add(&x, 1);
    atomic_fetch_add(&x, 1);
    return arg;
}

static void *setter(void *arg)
{
    atomic_store(&flag, 1);
    return arg;
}

int main(void)
{
    pthread_t t[5];
    pthread_create(&t[0], NULL, waiter, NULL);
    pthread_create(&t[1], NULL, spinner, NULL);
    pthread_create(&t[2], NULL, setter, NULL);
    pthread_create(&t[3], NULL, noise, NULL);
    pthread_create(&t[4], NULL, noise, NULL);
    for (int i = 0; i < 5; i++) pthread_join(t[i], NULL);
    return 0;
}
