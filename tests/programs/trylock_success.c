/* The other way round: fails only if trylock succeeds after the holder has come and gone.
 * EXPECT all error kind=assertion
 */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;

static void *holder(void *arg)
{
    pthread_mutex_lock(&m);
    x = 1;
    pthread_mutex_unlock(&m);
    return arg;
}

static void *trier(void *arg)
{
    if (pthread_mutex_trylock(&m) == 0) {
        assert(x == 0);
        pthread_mutex_unlock(&m);
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&b, NULL, trier, NULL);
    pthread_create(&a, NULL, holder, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
