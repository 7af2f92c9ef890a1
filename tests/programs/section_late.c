/* The section is behind a branch that the first execution does not take: the search starts over when it turns
 * up, as a compare-exchange that fails counts as a write from then on. Without the section (flag is read
 * first): the compare-exchange and the load of z come in two orders. With it, they and the section come in
 * six. If nobody sets the flag, there is no section, and one class. What z holds within the section is seen
 * by nobody, unless it is no section.
 *
 * EXPECT every verified 8
 * EXPECT -DNEVER every verified 1
 * EXPECT -DBARE all error kind=assertion line=49
 */
#include <assert.h>
#include <mazurka.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int flag, z;

static void *sets(void *arg)
{
#ifndef NEVER
    atomic_store(&flag, 1);
#endif
    return arg;
}

static void *looks(void *arg)
{
    if (!atomic_load(&flag)) return arg;
#ifndef BARE
    mz_atomic_begin();
#endif
    int old = atomic_exchange(&z, 3);
    atomic_store(&z, old);
#ifndef BARE
    mz_atomic_end();
#endif
    return arg;
}

static void *compares(void *arg)
{
    int expected = 1;
    atomic_compare_exchange_strong(&z, &expected, 2);
    return arg;
}

static void *reads(void *arg)
{
    assert(atomic_load(&z) == 0); /* never 3: that is only within the section */
    return arg;
}

int main(void)
{
    pthread_t t[4];
    pthread_create(&t[0], NULL, looks, NULL);
    pthread_create(&t[1], NULL, sets, NULL);
    pthread_create(&t[2], NULL, compares, NULL);
    pthread_create(&t[3], NULL, reads, NULL);
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    return 0;
}
