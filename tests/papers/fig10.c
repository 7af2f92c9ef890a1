/* Fig. 2 in n groups, 2017 Fig. 10: the write of x_i by s_i, seen by p_i, starts group i+1. 4n+1 classes.
 * Source sets alone meet exponentially many sleep-set-blocked runs; how many depends on which thread goes
 * first when several can. The p_i are created first, the last one first: then the totals are those of Table 1
 * with --order=names (with the default order up to n = 6). For -DAS_PRINTED see fig2.c: 6n+1.
 *
 * EXPECT -DN=1 every verified 5
 * EXPECT -DN=1 source verified 5 total=8
 * EXPECT -DN=2 all verified 9
 * EXPECT -DN=2 source verified 9 total=20
 * EXPECT -DN=3 optimal verified 13
 * EXPECT -DN=3 source verified 13 total=41
 * EXPECT -DN=4 optimal verified 17
 * EXPECT -DN=4 source verified 17 total=78
 * EXPECT -DN=5 optimal verified 21
 * EXPECT -DN=5 source verified 21 total=145
 * EXPECT -DN=6 optimal verified 25
 * EXPECT -DN=6 --order=names source verified 25 total=268
 * EXPECT -DN=7 optimal verified 29
 * EXPECT -DN=7 --order=names source verified 29 total=373
 * EXPECT -DN=8 optimal verified 33
 * EXPECT -DN=8 --order=names source verified 33 total=674
 * EXPECT -DN=9 optimal verified 37
 * EXPECT -DN=9 --order=names source verified 37 total=1222
 * EXPECT -DN=1 -DAS_PRINTED every verified 7
 * EXPECT -DN=2 -DAS_PRINTED all verified 13
 * EXPECT -DN=9 -DAS_PRINTED optimal verified 55
 */
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 1
#endif

static _Atomic int x[N + 1], y[N + 1], z[N + 1];
static int group[N + 1];
static pthread_t p_thread[N + 1], q_thread[N + 1], r_thread[N + 1], s_thread[N + 1];

static void *q(void *arg)
{
    atomic_store(&y[*(int *)arg], 1);
    return NULL;
}

static void *r(void *arg)
{
    int i = *(int *)arg;
    int m = atomic_load(&y[i]);
    if (m == 0) atomic_store(&z[i], 1);
    return NULL;
}

static void *s(void *arg)
{
    int i = *(int *)arg;
    int n = atomic_load(&z[i]);
#ifdef AS_PRINTED
    int l = atomic_load(&y[i]);
    if (n == 1 && l == 0) atomic_store(&x[i], 1);
#else
    if (n == 1 && atomic_load(&y[i]) == 0) atomic_store(&x[i], 1);
#endif
    return NULL;
}

static void start_group(int i)
{
    pthread_create(&q_thread[i], NULL, q, &group[i]);
    pthread_create(&r_thread[i], NULL, r, &group[i]);
    pthread_create(&s_thread[i], NULL, s, &group[i]);
}

static void join_group(int i)
{
    pthread_join(q_thread[i], NULL);
    pthread_join(r_thread[i], NULL);
    pthread_join(s_thread[i], NULL);
}

static void *p(void *arg)
{
    int i = *(int *)arg;
    if (atomic_load(&x[i]) == 1 && i < N) {
        start_group(i + 1);
        join_group(i + 1);
    }
    return NULL;
}

int main(void)
{
    for (int i = 1; i <= N; i++) group[i] = i;
    for (int i = N; i >= 1; i--) pthread_create(&p_thread[i], NULL, p, &group[i]);
    start_group(1);
    join_group(1);
    for (int i = 1; i <= N; i++) pthread_join(p_thread[i], NULL);
    return 0;
}
