/* A writer changes two variables under two locks; a reader between the two stages sees them differ. N writers, one reader.
 * (After SCTBench, twostage_N.) */
#include "bugs.h"

static pthread_mutex_t m1 = PTHREAD_MUTEX_INITIALIZER, m2 = PTHREAD_MUTEX_INITIALIZER;
static int first, second;

static void *work(void *arg)
{
    int x, y;
    if ((intptr_t)arg < N) {
        pthread_mutex_lock(&m1), first = 1, pthread_mutex_unlock(&m1);
        pthread_mutex_lock(&m2), second = 2, pthread_mutex_unlock(&m2);
        return arg;
    }
    pthread_mutex_lock(&m1), x = first, pthread_mutex_unlock(&m1);
    if (!x) return arg;
    pthread_mutex_lock(&m2), y = second, pthread_mutex_unlock(&m2);
    assert(y == x + 1);
    return arg;
}

int main(void)
{
    run(N + 1, work);
    return 0;
}
