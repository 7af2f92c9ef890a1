/* x += 1 reads x and writes it: with --data-races=allow another thread may come in between, with every compiler.
 * OPTIONS --data-races=allow
 * EXPECT every error kind=assertion
 * EXPECT -O0 all error kind=assertion
 * EXPECT -O2 all error kind=assertion
 * EXPECT -O3 all error kind=assertion
 * EXPECT -DATOMIC all verified 2
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#ifdef ATOMIC
static atomic_int x;
#else
static int x;
#endif

static void *work(void *p)
{
    x += 1;
    return p;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    assert(x == 2);
    return 0;
}
