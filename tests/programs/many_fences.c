/* Three million fences in one step: what counts is the last one that matters, and they need no memory.
 * MODE 0: release fences. 1: both kinds in turn. 2: a read of something that main has written before each, so
 * that the order has to be known each time. 3: sequentially consistent. FORWARD: what the middle thread has
 * met by a relaxed load is handed on by a release fence only if an acquire fence is between. Events are the
 * accesses to flag and next: without FORWARD two orders; with it the middle thread may see flag or not, and
 * stores next only if it does; then the last one may see next or not.
 * EXPECT -DMODE=0 all verified 2
 * EXPECT -DMODE=1 optimal verified 2
 * EXPECT -DMODE=2 optimal verified 2
 * EXPECT -DMODE=3 optimal verified 2
 * EXPECT -DMODE=0 -DLATE -DN=300 all error kind=data-race
 * EXPECT -DMODE=1 -DLATE -DN=300 all error kind=data-race
 * EXPECT -DMODE=2 -DLATE -DN=300 all error kind=data-race
 * EXPECT -DMODE=3 -DLATE -DN=300 all error kind=data-race
 * EXPECT -DMODE=0 -DEARLY -DN=300 all error kind=data-race
 * EXPECT -DMODE=0 -DFORWARD optimal verified 3 mib=200
 * EXPECT -DMODE=0 -DFORWARD -DRELEASE_FIRST -DN=300 all error kind=data-race
 * EXPECT -DMODE=2 -DFORWARD optimal verified 3 mib=200
 * EXPECT -DMODE=2 -DFORWARD -DRELEASE_FIRST -DN=300 all error kind=data-race
 */
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 3000000
#endif

static int data, before;
static _Atomic int flag, next;

static void fences(memory_order one, memory_order other)
{
    for (int i = 0; i < N; i++) {
        if (MODE == 2 && before) data++;
        atomic_thread_fence(MODE == 3 ? memory_order_seq_cst : MODE == 1 && i % 2 ? other : one);
    }
}

static void *writer(void *arg)
{
    data = 1;
    fences(memory_order_release, memory_order_acquire);
#ifdef LATE
    data = 2;
#endif
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    return arg;
}

static void *middle(void *arg)
{
    if (!atomic_load_explicit(&flag, memory_order_relaxed)) return arg;
#ifdef RELEASE_FIRST
    for (int i = 0; i < 100; i++) atomic_thread_fence(memory_order_release);
    for (int i = 0; i < 100; i++) atomic_thread_fence(memory_order_acquire);
#else
    for (int i = 0; i < 100; i++) atomic_thread_fence(memory_order_acquire);
    for (int i = 0; i < 100; i++) atomic_thread_fence(memory_order_release);
#endif
    atomic_store_explicit(&next, 1, memory_order_relaxed);
    return arg;
}

static void *reader(void *arg)
{
#ifdef EARLY
    atomic_thread_fence(memory_order_acquire);
#endif
#ifdef FORWARD
    if (!atomic_load_explicit(&next, memory_order_relaxed)) return arg;
#else
    if (!atomic_load_explicit(&flag, memory_order_relaxed)) return arg;
#endif
#ifndef EARLY
    fences(memory_order_acquire, memory_order_acquire);
#endif
    return data ? arg : NULL;
}

int main(void)
{
    pthread_t a, b, c;
    before = 0;
    pthread_create(&a, NULL, writer, NULL);
#ifdef FORWARD
    pthread_create(&b, NULL, middle, NULL);
#endif
    pthread_create(&c, NULL, reader, NULL);
    pthread_join(a, NULL);
#ifdef FORWARD
    pthread_join(b, NULL);
#endif
    pthread_join(c, NULL);
    return 0;
}
