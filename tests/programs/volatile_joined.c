/* volatile accesses that are ordered by create and join are fine.
 * EXPECT every verified 1
 */
#include <assert.h>
#include <pthread.h>

static volatile int flag;

static void *setter(void *arg)
{
    flag = flag + 1;
    return arg;
}

int main(void)
{
    pthread_t a;
    flag = 1;
    pthread_create(&a, NULL, setter, NULL);
    pthread_join(a, NULL);
    assert(flag == 2);
    return 0;
}
