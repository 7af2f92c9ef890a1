/* Nothing inside of a section may need the scheduler.
 * EXPECT optimal failed says=inside
 */
#include <mazurka.h>
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *arg)
{
    mz_atomic_begin();
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    mz_atomic_end();
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    pthread_join(t, NULL);
    return 0;
}
