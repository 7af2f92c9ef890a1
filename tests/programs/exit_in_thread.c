/* exit(0) in a thread ends the program at once, also for those who still had something to say. Whether the
 * assertion is reached depends on who is first, so it must be found.
 * EXPECT all error kind=assertion
 * EXPECT -DHARMLESS all verified
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic int x;

static void *quitter(void *arg)
{
    atomic_store(&x, 1);
    exit(0);
    return arg;
}

static void *talker(void *arg)
{
    int seen = atomic_load(&x);
#ifdef HARMLESS
    (void)seen;
#else
    assert(seen == 0);
#endif
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, quitter, NULL);
    pthread_create(&b, NULL, talker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
