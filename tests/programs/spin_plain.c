/* The beginner's bug: waiting for a plain variable. It is a data race, whatever else is in the loop, and where
 * nobody writes to the variable an endless loop. The same with volatile; if data races are allowed, that is a
 * loop that waits.
 * EXPECT -O0 every error kind=data-race
 * EXPECT -O0 stateful error kind=data-race
 * EXPECT -O0 s-por error kind=data-race
 * EXPECT -O1 all error kind=data-race
 * EXPECT -O2 all error kind=data-race
 * EXPECT -DYIELD -O0 every error kind=data-race
 * EXPECT -DYIELD -O2 all error kind=data-race
 * EXPECT -DVOLATILE every error kind=data-race
 * EXPECT -DVOLATILE -O2 all error kind=data-race
 * EXPECT -DVOLATILE -DYIELD -O1 all error kind=data-race
 * EXPECT -DMAIN -O0 every error kind=data-race
 * EXPECT -DMAIN -DVOLATILE -O2 all error kind=data-race
 * EXPECT -DNEVER -O0 every error kind=livelock line=36
 * EXPECT -DNEVER -DVOLATILE -O2 all error kind=livelock
 * EXPECT -DNEVER -O0 stateful error kind=livelock line=36
 * EXPECT -DVOLATILE --data-races=allow every verified
 * EXPECT -DVOLATILE -O2 --data-races=allow all verified
 * EXPECT -DVOLATILE -DYIELD --data-races=allow all verified
 * EXPECT --data-races=allow all verified opt=0
 */
#include <pthread.h>
#include <sched.h>

#ifdef VOLATILE
static volatile int ready;
#else
static int ready;
#endif

static void *waits(void *unused)
{
    (void)unused;
    while (!ready) {
#ifdef YIELD
        sched_yield();
#endif
    }
    return NULL;
}

static void *sets(void *unused)
{
    (void)unused;
#ifndef NEVER
    ready = 1;
#endif
    return NULL;
}

int main(void)
{
    pthread_t t, u;
#ifdef MAIN
    pthread_create(&t, NULL, sets, NULL);
    waits(NULL);
#else
    pthread_create(&t, NULL, waits, NULL);
    pthread_create(&u, NULL, sets, NULL);
    pthread_join(u, NULL);
#endif
    pthread_join(t, NULL);
    return 0;
}
