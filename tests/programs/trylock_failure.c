/* The assertion fails only if trylock fails, which needs the other thread in its critical section.
 * EXPECT all error kind=assertion line=26
 */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;

static void *holder(void *arg)
{
    pthread_mutex_lock(&m);
    x++;
    pthread_mutex_unlock(&m);
    return arg;
}

static void *trier(void *arg)
{
    int got = pthread_mutex_trylock(&m) == 0;
    if (got) {
        x++;
        pthread_mutex_unlock(&m);
    }
    /* "nobody ever holds it when I come" */
    assert(got);
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
