/* While a handler runs its signal is blocked, also after going back to a place within it; and what a function of
 * the library writes to a variable (-DCEILING) is taken back.
 *
 * EXPECT all verified
 * EXPECT --backtrack=undo optimal verified
 * EXPECT --backtrack=checkpoint optimal verified
 * EXPECT --backtrack=rerun optimal verified
 * EXPECT -DOPEN --backtrack=undo optimal error kind=assertion
 * EXPECT -DCEILING --backtrack=undo optimal verified
 * EXPECT -DCEILING stateful verified
 */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

static atomic_int flag, x;

#ifdef CEILING
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int ceiling = 7, old = 7;

static void *raiser(void *arg)
{
    (void)atomic_load(&flag);
    assert(ceiling == 7 && old == 7);
    pthread_mutex_getprioceiling(&m, &ceiling);
    pthread_mutex_setprioceiling(&m, 1, &old);
    return arg;
}
#else
static int inside, again;

static void handler(int number)
{
    (void)number;
    assert(!inside);
    inside = 1;
    if (atomic_load(&flag) && !again) {
        again = 1;
        raise(SIGUSR1);
    }
    inside = 0;
}

static void *raiser(void *arg)
{
    atomic_fetch_add(&x, 1);
    raise(SIGUSR1);
    return arg;
}
#endif

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
    pthread_t t[4];
#ifndef CEILING
    struct sigaction action = {.sa_handler = handler};
#ifdef OPEN
    action.sa_flags = SA_NODEFER;
#endif
    sigaction(SIGUSR1, &action, NULL);
#endif
    pthread_create(&t[0], NULL, noise, NULL);
    pthread_create(&t[1], NULL, raiser, NULL);
    pthread_create(&t[2], NULL, setter, NULL);
    pthread_create(&t[3], NULL, noise, NULL);
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    return 0;
}
