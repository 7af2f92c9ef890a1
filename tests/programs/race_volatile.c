/* volatile does not synchronize: still a data race.
 * EXPECT all error kind=data-race
 */
#include <pthread.h>

static volatile int flag;

static void *setter(void *arg)
{
    flag = 1;
    return arg;
}

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, setter, NULL);
    int seen = flag;
    pthread_join(a, NULL);
    return seen > 1;
}
