/* Two threads try a mutex. Both may get it, one after the other, or one of them finds it taken: four classes
 * (the unlock of a mutex that is also tried is an event).
 * EXPECT every verified 4
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int inside, visits;

static void *work(void *arg)
{
    int r = pthread_mutex_trylock(&m);
    if (r == 0) {
        assert(inside == 0);
        inside = 1;
        visits++;
        inside = 0;
        pthread_mutex_unlock(&m);
    } else {
        assert(r == EBUSY);
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(visits == 1 || visits == 2);
    return 0;
}
