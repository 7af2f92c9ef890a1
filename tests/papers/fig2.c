/* Program with control flow, 2017 Fig. 2: only after r.r.s.s, with q not in between, does s write x.
 *
 * As printed, s reads y whatever it found in z: 7 classes (q, r and s alone: 6). The counts in the paper's
 * text ("four ways to schedule q, r and s", five for Fig. 10 with n = 1) are those of a program where s
 * reads y only if it found 1 in z; that is the default here. See docs/PAPERS.md.
 *
 * EXPECT every verified 5
 * EXPECT optimal verified 5
 * EXPECT source verified 5 total=8
 * EXPECT -DAS_PRINTED every verified 7
 */
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int x, y, z;

static void *p(void *arg)
{
    (void)atomic_load(&x);
    return arg;
}

static void *q(void *arg)
{
    atomic_store(&y, 1);
    return arg;
}

static void *r(void *arg)
{
    int m = atomic_load(&y);
    if (m == 0) atomic_store(&z, 1);
    return arg;
}

static void *s(void *arg)
{
    int n = atomic_load(&z);
#ifdef AS_PRINTED
    int l = atomic_load(&y);
    if (n == 1 && l == 0) atomic_store(&x, 1);
#else
    if (n == 1 && atomic_load(&y) == 0) atomic_store(&x, 1);
#endif
    return arg;
}

int main(void)
{
    static void *(*const start[4])(void *) = {p, q, r, s};
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, start[i], NULL);
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    return 0;
}
