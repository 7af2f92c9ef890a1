/* Loops that wait for time to pass come to an end: time passes for them. Alone or among others, with
 * nothing in it or with work; one that also waits for a flag ends by the flag or by the time.
 * EXPECT -DSTART=0 -DDONE=time(NULL)>=start+5 every verified 1
 * EXPECT -DSTART=0 -DDONE=seconds()>=start+0.5 every verified 1
 * EXPECT -DSTART=0 -DDONE=seconds()>=start+86400 every verified 1
 * EXPECT -DSTART=0 -DDONE=clock()>=5*CLOCKS_PER_SEC every verified 1
 * EXPECT -DSTART=0 -DDONE=time(NULL)>=start+5 -DWORK every verified 1
 * EXPECT -DSTART=0 -DDONE=time(NULL)>=start+5 -DBOTH all verified
 * EXPECT -DSTART=1 -DDONE=time(NULL)>=start+5 every verified 1
 * EXPECT -DSTART=0 -DDONE=(atomic_load(&flag)||time(NULL)>=start+5) -DFLAG all verified
 * EXPECT -DSTART=0 -DDONE=(atomic_load(&flag)||time(NULL)>=start+5) -DFLAG --no-sleep-sets none verified
 * EXPECT -DSTART=0 -DDONE=(atomic_load(&flag)||time(NULL)>=start+5) -DTIMEOUT -DFLAG all error kind=assertion
 * EXPECT -DSTART=0 -DDONE=(atomic_load(&flag)||time(NULL)>=start+5) all verified
 * EXPECT -DSTART=0 -DDONE=(atomic_load(&flag)||time(NULL)<0) all error kind=livelock
 * EXPECT -DSTART=0 -DDONE=(atomic_load(&flag)||time(NULL)<0) -DFLAG all verified
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

_Atomic int flag; /* not static: clang would see that nobody sets it, and leave it out */
static int work;
static time_t start;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *polls(void *arg)
{
    while (!(DONE)) {
#ifdef WORK
        work++;
#endif
    }
#ifdef TIMEOUT
    assert(atomic_load(&flag));
#endif
    return arg;
}

static void *sets(void *arg)
{
#ifdef FLAG
    atomic_store(&flag, 1);
#endif
#ifdef BOTH
    polls(arg);
#endif
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start = time(NULL);
    (void)seconds, (void)work;
    if (START) polls(NULL);
    start = time(NULL);
    pthread_create(&a, NULL, polls, NULL);
    pthread_create(&b, NULL, sets, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
