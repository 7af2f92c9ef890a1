/* 2005 section 3: p1 does x=1; x=2 and p2 does y=1; x=3. Three classes: x=3 before, between and after.
 *
 * EXPECT every verified 3
 * EXPECT --no-sleep-sets none verified 6
 * EXPECT --no-sleep-sets dpor verified
 */
#include <pthread.h>
#include <stdatomic.h>

_Atomic int x, y; /* not static: clang removes stores that nobody reads */

static void *p1(void *arg)
{
    atomic_store(&x, 1);
    atomic_store(&x, 2);
    return arg;
}

static void *p2(void *arg)
{
    atomic_store(&y, 1);
    atomic_store(&x, 3);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, p1, NULL);
    pthread_create(&b, NULL, p2, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
