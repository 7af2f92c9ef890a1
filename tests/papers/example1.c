/* 2008 Fig. 1: one thread adds 0, 5, 10, ... and another subtracts 0, 2, 4, ... below N, each step one atomic
 * operation. All steps are in conflict: the classes are the interleavings, C(a+b, a) with a = ceil(N/5)
 * and b = ceil(N/2). With the paper's assertion it fails from N = 11 on (in C, where d = 9 is reachable).
 *
 * EXPECT -DN=2 every verified 2
 * EXPECT -DN=4 every verified 3
 * EXPECT -DN=10 all verified 21
 * EXPECT -DN=20 optimal verified 1001
 * EXPECT -DN=20 source verified 1001 blocked=0
 * EXPECT -DN=10 -DASSERT all verified 21
 * EXPECT -DN=11 -DASSERT all error kind=assertion
 * EXPECT -DN=64 -DASSERT optimal error kind=assertion
 * SLOW -DN=30 optimal verified 54264
 * SLOW -DN=30 source verified 54264 blocked=0
 * SLOW -DN=35 optimal verified 480700
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 10
#endif

static _Atomic int d;

static void check(int value)
{
#ifdef ASSERT
    assert(value % 5 != 4);
#else
    (void)value;
#endif
}

static void *add(void *arg)
{
    for (int i = 0; i < N; i += 5) check(atomic_fetch_add(&d, i) + i);
    return arg;
}

static void *subtract(void *arg)
{
    for (int j = 0; j < N; j += 2) check(atomic_fetch_sub(&d, j) - j);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, add, NULL);
    pthread_create(&b, NULL, subtract, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
