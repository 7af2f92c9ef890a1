/* GNU nested functions: a pointer to one leads through code on the stack of the thread that made it.
 * EXPECT every verified 2
 * EXPECT stateful verified
 * EXPECT -O2 optimal verified 2
 * EXPECT -DBROKEN all error kind=assertion
 * EXPECT -DBIG optimal verified 2
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int x;

static __attribute__((noinline)) void apply(void (*f)(int), int a) { f(a); }

#ifdef __clang__ /* has no nested functions */
static _Thread_local int mine = 1;
static int sum;
static void add(int a)
{
    if (a == 2) mine += a;
    if (a == 5) sum += a;
    atomic_fetch_add(&x, a);
}
#endif

static void *thread(void *unused)
{
#ifndef __clang__
    int mine = 1;
    void add(int a)
    {
        mine += a;
        atomic_fetch_add(&x, a);
    }
#endif
    apply(add, 2);
    assert(mine == 3);
    return unused;
}

int main(void)
{
    pthread_t t;
#ifndef __clang__
    int sum = 0;
    void add(int a)
    {
        sum += a;
        atomic_fetch_add(&x, a);
    }
#endif
    pthread_attr_t attr;
    pthread_attr_init(&attr);
#ifdef BIG
    pthread_attr_setstacksize(&attr, 64 << 20);
#endif
    pthread_create(&t, &attr, thread, NULL);
    apply(add, 5);
    pthread_join(t, NULL);
#ifdef BROKEN
    assert(atomic_load(&x) != 7);
#else
    assert(atomic_load(&x) == 7 && sum == 5);
#endif
    return 0;
}
