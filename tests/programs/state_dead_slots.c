/* What is left over on stacks and in registers does not tell states apart. Two threads, ROUNDS rounds each; what
 * a round has seen is dead when it is over, but stays where it was.
 *
 * With a lock there are as many states as pairs of rounds: each thread is about to lock for the i-th time, or has
 * ended, so 4 * 4, and the end. Without knowing what is dead, the number that a thread got last would count too.
 *
 * With compare-exchange (-DCAS), a thread that has made a rounds is about to load, or to exchange a value it has
 * seen: one for each number j <= b of rounds that the other had made then, so b + 1. Of both at once one must
 * have come last, which saw all that the other had done: a + b + 1 pairs. So for a, b < 3 there are
 * 1 + (b + 1) + (a + 1) + (a + b + 1) states, 72 in all; if one has ended, 1 + 4 for each b < 3, twice 15; both
 * have ended; the end: 104. But the expected value is a variable that the hook gets a pointer to: all of the
 * frame counts, with values of rounds before, up to 304.
 *
 * With -DPUT_AWAY the value that was seen is in a register of the caller, put away by a function that waits.
 * EXPECT stateful verified states=17
 * EXPECT -O0 stateful verified states=17
 * EXPECT -O2 stateful verified states=17
 * EXPECT -O0 --state-match=exact stateful verified states=17
 * EXPECT -O0 --backtrack=checkpoint stateful verified states=17
 * EXPECT -DCAS stateful verified states=..304
 * EXPECT -DCAS -O0 stateful verified states=..304
 * EXPECT -DCAS -O2 stateful verified states=..304
 * EXPECT -DCAS -O0 --state-match=exact stateful verified states=..304
 * EXPECT -DPUT_AWAY stateful verified states=17
 * EXPECT -DPUT_AWAY -O2 stateful verified states=17
 * EXPECT -DALIVE -O0 stateful error kind=assertion
 * EXPECT -DALIVE stateful error kind=assertion
 * EXPECT -DALIVE -O0 dl-s-por error kind=assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define ROUNDS 3

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int next, total;
static atomic_int counter;

static __attribute__((noinline)) void lock(void) { pthread_mutex_lock(&m); }

static void *work(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
#if defined CAS
        int seen = atomic_load(&counter);
        while (!atomic_compare_exchange_strong(&counter, &seen, seen + 1)) continue;
#elif defined PUT_AWAY
        lock();
        int mine = ++next, other = mine * mine;
        pthread_mutex_unlock(&m);
        if (other < 0) return arg; /* never: and dead from here on */
#else
        pthread_mutex_lock(&m);
        int mine = ++next;
        total += mine;
        pthread_mutex_unlock(&m);
#endif
    }
    return arg;
}

#ifdef ALIVE /* here it matters: the thread remembers what it got first */
static void *remember(void *arg)
{
    pthread_mutex_lock(&m);
    int mine = ++next;
    pthread_mutex_unlock(&m);
    pthread_mutex_lock(&m);
    total += mine;
    pthread_mutex_unlock(&m);
    assert(mine != 2); /* the other one was first */
    return arg;
}
#define work remember
#endif

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    return 0;
}
