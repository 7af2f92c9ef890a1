/* Until the handlers of exit have returned, the program is not over: they may wait for ever.
 * EXPECT -DLOCKED all error kind=deadlock
 * EXPECT -DLOCKED stateful error kind=deadlock
 * EXPECT -DJOINS all error kind=deadlock
 * EXPECT -DJOINS s-por error kind=deadlock
 * EXPECT -DJOINS -DWOKEN all verified
 * EXPECT -DSPINS all error kind=livelock
 * EXPECT -DSPINS sdpor error kind=livelock
 * EXPECT -DSPINS -DSET all verified
 * EXPECT -DCYCLES --max-steps=300 all incomplete search=stateless
 * EXPECT -DCYCLES stateful error kind=livelock
 * EXPECT -DOTHER_SPINS all verified
 * EXPECT -DOTHER_SPINS stateful verified
 * EXPECT -DOTHER_SPINS -DSTATUS=1 all error kind=exit-code
 * EXPECT -DOTHER_SPINS -DSTATUS=1 stateful error kind=exit-code
 * EXPECT -DOTHER_SPINS -DSTATUS=1 s-por error kind=exit-code
 * EXPECT -DOTHER_SPINS -DLOSES --leaks all error kind=leak
 * EXPECT -DOTHER_SPINS -DLOSES --leaks dl-s-por error kind=leak
 * EXPECT -DEXITS_AGAIN=exit all error kind=exit-code
 * EXPECT -DEXITS_AGAIN=_exit all error kind=exit-code
 * EXPECT -DEXITS_AGAIN=exit -DORDER all error kind=assertion
 * EXPECT -DEXITS_AGAIN=exit -DORDER stateful error kind=assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef STATUS
#define STATUS 0
#endif

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static _Atomic int stop, ready;
static pthread_t t;

static void *work(void *arg)
{
#ifdef LOCKED
    pthread_mutex_lock(&m);
    exit(0);
#elif defined JOINS
    pthread_mutex_lock(&m);
    while (!stop) pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
#elif defined SET
    ready = 1;
#elif defined OTHER_SPINS
    while (!ready) {
    }
#endif
    return arg;
}

static void last(void)
{
#ifdef ORDER
    assert(ready != 1); /* runs after the second exit */
#endif
}

static void at_end(void)
{
#ifdef LOCKED
    pthread_mutex_lock(&m);
#elif defined JOINS
    pthread_mutex_lock(&m);
    stop = 1;
#ifdef WOKEN
    pthread_cond_signal(&c);
#endif
    pthread_mutex_unlock(&m);
    pthread_join(t, NULL);
#elif defined SPINS
    while (!ready) {
    }
#elif defined CYCLES
    while (!ready) stop = !stop;
#elif defined EXITS_AGAIN
    ready = 1;
    EXITS_AGAIN(3);
#endif
}

int main(void)
{
#ifdef LOSES
    void *volatile block = malloc(8);
    block = NULL;
#endif
    atexit(last);
    atexit(at_end);
    pthread_create(&t, NULL, work, NULL);
#ifdef LOCKED
    pthread_join(t, NULL);
#endif
    return STATUS;
}
