/* Assertions that no execution reaches. See tests/cli/reports.sh (unreached).
 * EXPECT all verified
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef ROUNDS
#define ROUNDS 1
#endif

static atomic_int x, y;

static inline int half(int a)
{
    assert(a >= 0 && a < 1000); /* reached; known to hold where it is inlined, perhaps */
    if (a > 500) assert(a % 2 == 0 && "more than 500"); /* not reached */
    return a / 2;
}

static void *count(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        int old = atomic_fetch_add(&x, 1);
        if (half(old) < 0) assert(atomic_load(&y) == 7); /* not reached */
        assert(old < 1000);                              /* reached */
    }
    return arg;
}

int main(void)
{
    pthread_t t, u, v;
    pthread_create(&t, NULL, count, NULL);
    pthread_create(&u, NULL, count, NULL);
    pthread_create(&v, NULL, count, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    pthread_join(v, NULL);
    if (atomic_load(&x) != 3 * ROUNDS) assert(atomic_load(&y) == 9); /* not reached */
    assert(atomic_load(&y) == 0);                                    /* reached */
    return 0;
}
