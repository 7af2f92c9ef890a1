/* A structure that a function returns is stored by the call itself, and one that is passed by value is read by
 * it: both need hooks, or going back, the identity of states and the race check miss them.
 * -DMAKE: g depends on who comes last. -DRACE: without the lock. -DREAD: only one thread passes g, another writes.
 * EXPECT every verified 6
 * EXPECT -O0 all verified 6
 * EXPECT -O2 all verified 6
 * EXPECT -DBIG all verified 6
 * EXPECT stateful verified
 * EXPECT -DMAKE all error kind=assertion
 * EXPECT -DMAKE stateful error kind=assertion
 * EXPECT -DMAKE s-por error kind=assertion
 * EXPECT -DRACE all error kind=data-race
 * EXPECT -DRACE -O0 all error kind=data-race
 * EXPECT -DRACE -DBIG -O2 all error kind=data-race
 * EXPECT -DREAD all error kind=data-race
 * EXPECT -DREAD -DBIG -O2 all error kind=data-race
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

struct pair {
    long a, b;
#ifdef BIG
    long more[7];
#endif
};
struct pair g;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) struct pair next(struct pair p)
{
    p.a++;
    p.b--;
    return p;
}

__attribute__((noinline)) struct pair make(long n) { return (struct pair){.a = n, .b = -n}; }

__attribute__((noinline)) long sum(struct pair p) { return p.a + p.b; }

static void *work(void *me)
{
#if defined MAKE
    pthread_mutex_lock(&mutex);
    g = make((long)me);
    pthread_mutex_unlock(&mutex);
#elif defined RACE
    g = make((long)me);
#elif defined READ
    if ((long)me == 1)
        assert(sum(g) <= 0);
    else
        g.b = -1;
#else
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&mutex);
        g = next(g);
        pthread_mutex_unlock(&mutex);
    }
#endif
    return me;
}

int main(void)
{
    pthread_t t[2];
    for (long i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, (void *)(i + 1));
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
#if defined MAKE
    assert(g.a == 2);
#elif !defined RACE && !defined READ
    assert(g.a == 4 && g.b == -4);
#endif
    return 0;
}
