/* A loop that waits with an atomic section: a section may read any variable, so the loop is followed for three rounds.
 * EXPECT all incomplete search=stateless says=rounds
 * EXPECT stateful verified
 * EXPECT -DBROKEN all error kind=assertion
 */
#include <assert.h>
#include <mazurka.h>
#include <pthread.h>

static int x;

static void *work(void *arg)
{
    mz_atomic_begin();
    x = 1;
    mz_atomic_end();
    return arg;
}

int main(void)
{
    pthread_t t;
    int seen, rounds = 0;
    pthread_create(&t, NULL, work, NULL);
    do {
        mz_atomic_begin();
        seen = x;
        mz_atomic_end();
#ifdef BROKEN
        assert(rounds++ == 0);
#endif
    } while (!seen);
    pthread_join(t, NULL);
    return rounds > 1;
}
