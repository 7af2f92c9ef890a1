/* Two mutexes that protect two things: four classes, not twenty-four.
 * EXPECT every verified 4
 */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t m1 = PTHREAD_MUTEX_INITIALIZER, m2 = PTHREAD_MUTEX_INITIALIZER;
static int x, y;

static void *work(void *arg)
{
    pthread_mutex_lock(&m1);
    x++;
    pthread_mutex_unlock(&m1);
    pthread_mutex_lock(&m2);
    y++;
    pthread_mutex_unlock(&m2);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(x == 2 && y == 2);
    return 0;
}
