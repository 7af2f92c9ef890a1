/* atomic_flag as a lock that is only tried: at most one thread is inside.
 * EXPECT every verified 4
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_flag flag = ATOMIC_FLAG_INIT;
static int inside;

static void *enter(void *arg)
{
    if (!atomic_flag_test_and_set(&flag)) {
        inside++;
        assert(inside == 1);
        inside--;
        atomic_flag_clear(&flag);
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, enter, NULL);
    pthread_create(&b, NULL, enter, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
