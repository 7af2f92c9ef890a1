/* Inline assembly: locked instructions and xchg on an operand in memory are atomic operations, mfence and a
 * locked instruction on the own stack are fences. -DPOINTER: the address is in a register, so that nothing is
 * known of the memory: that is said beside the verdict.
 * EXPECT -DXADD every verified 2
 * EXPECT -DXADD -O0 all verified 2
 * EXPECT -DXADD -O2 stateful verified
 * EXPECT -DLOCK every verified
 * EXPECT -DLOCK -O2 stateful verified
 * EXPECT -DLOCK -DBROKEN all error kind=data-race
 * EXPECT -DCMPXCHG all verified
 * EXPECT -DFENCE=mfence all verified 2
 * EXPECT -DFENCE=lock_add all verified 2
 * EXPECT -DFENCE=lock_or -O2 all verified 2
 * EXPECT -DFENCE=nothing all error kind=data-race
 * EXPECT -DPLAIN all verified 2
 * EXPECT -DPLAIN -DRACE all error kind=data-race
 * EXPECT -DPOINTER optimal verified says=assembly
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#define mfence   __asm__ volatile("mfence" ::: "memory")
#define lock_add __asm__ volatile("lock; addl $0,0(%%rsp)" ::: "memory", "cc")
#define lock_or  __asm__ volatile("lock orq $0, (%%rsp)" ::: "memory", "cc")
#define nothing  __asm__ volatile("" ::: "memory")

static int g, lock;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static inline int exchange(int *p, int v)
{
    __asm__ volatile("xchgl %0, %1" : "+r"(v), "+m"(*p)::"memory");
    return v;
}

static inline int add(int *p, int v)
{
    __asm__ volatile("lock; xaddl %0, %1" : "+r"(v), "+m"(*p)::"memory", "cc");
    return v;
}

static inline int swap(int *p, int from, int to)
{
    __asm__ volatile("lock\n\tcmpxchgl %2, %1" : "+a"(from), "+m"(*p) : "r"(to) : "memory", "cc");
    return from;
}

#if defined FENCE
static atomic_int flag;
static void *work(void *me)
{
    if (me) {
        g = 1;
        FENCE;
        atomic_store_explicit(&flag, 1, memory_order_relaxed);
    } else if (atomic_load_explicit(&flag, memory_order_relaxed)) {
        FENCE;
        assert(g == 1);
    }
    return me;
}
#elif defined XADD
static void *work(void *me)
{
    add(&g, 2);
    return me;
}
#elif defined CMPXCHG
static void *work(void *me)
{
    int old = 0, now;
    while ((now = swap(&g, old, old + 2)) != old) old = now;
    return me;
}
#elif defined LOCK
static void *work(void *me)
{
#ifndef BROKEN
    while (exchange(&lock, 1)) {
    }
#endif
    g += 2;
    exchange(&lock, 0);
    return me;
}
#else
static void *work(void *me)
{
#ifndef RACE
    pthread_mutex_lock(&mutex);
#endif
#ifdef POINTER
    __asm__ volatile("addl $2, (%0)" ::"r"(&g) : "memory", "cc");
#else
    __asm__ volatile("addl $2, %0" : "+m"(g)::"cc");
#endif
#ifndef RACE
    pthread_mutex_unlock(&mutex);
#endif
    return me;
}
#endif

int main(void)
{
    pthread_t t[2];
    for (long i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    (void)add, (void)swap, (void)exchange, (void)lock, (void)mutex;
#ifndef FENCE
    assert(g == 4);
#endif
    return 0;
}
