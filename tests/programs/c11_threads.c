/* The rest of C11 <threads.h>: condition variables, call_once, thread-specific storage, exit, detach,
 * yield, sleep. One waiter: it comes after the signal, or waits and is woken: 2, times 2 for who calls
 * once first.
 * EXPECT every verified 4
 * EXPECT -DSIGNAL every verified 4
 * EXPECT -DLOST all error kind=deadlock
 * EXPECT -DTIMED all verified
 * EXPECT -DTIMED -DNEVER all error kind=assertion
 * EXPECT -DONLY_ONCE every verified 2
 * EXPECT -DONLY_ONCE --no-sleep-sets none verified 2
 */
#include <assert.h>
#include <threads.h>
#include <time.h>

static mtx_t m;
static cnd_t c;
static once_flag flag = ONCE_FLAG_INIT;
static tss_t key;
static int ready, runs, destroyed;

static void once(void) { runs++; }
static void on_end(void *value)
{
    assert(value == &key);
    destroyed++;
}

static int waiter(void *arg)
{
    call_once(&flag, once);
    assert(runs == 1 && !tss_get(key) && tss_set(key, arg) == thrd_success && tss_get(key) == arg);
#ifndef ONLY_ONCE
    int r = thrd_success;
    mtx_lock(&m);
    while (!ready && r == thrd_success) {
#ifdef TIMED
        struct timespec until = {2000000000, 0};
        r = cnd_timedwait(&c, &m, &until);
#else
        r = cnd_wait(&c, &m);
#endif
    }
#ifdef NEVER
    assert(r == thrd_success);
#endif
    assert(r == thrd_success || r == thrd_timedout);
    mtx_unlock(&m);
#endif
    thrd_exit(3);
}

static int detached(void *arg)
{
    (void)arg;
    assert(thrd_detach(thrd_current()) == thrd_success);
    return 0;
}

int main(void)
{
    struct timespec pause = {0, 1000}, wrong = {0, -1};
    thrd_t t, d;
    int result = 0;
    mtx_init(&m, mtx_timed);
    cnd_init(&c);
    assert(tss_create(&key, on_end) == thrd_success);
    thrd_create(&t, waiter, &key);
    thrd_create(&d, detached, NULL);
    assert(thrd_equal(thrd_current(), thrd_current()) && !thrd_equal(t, thrd_current()));
    thrd_yield();
    assert(thrd_sleep(&pause, NULL) == 0 && thrd_sleep(&wrong, NULL) < -1);
    call_once(&flag, once);
    assert(runs == 1);
#ifndef ONLY_ONCE
    mtx_lock(&m);
#ifndef LOST
    ready = 1;
#endif
#ifdef SIGNAL
    cnd_signal(&c);
#else
    cnd_broadcast(&c);
#endif
    mtx_unlock(&m);
#endif
    assert(thrd_join(t, &result) == thrd_success && result == 3 && destroyed == 1);
    tss_delete(key);
    cnd_destroy(&c);
    mtx_destroy(&m);
    return 0;
}
