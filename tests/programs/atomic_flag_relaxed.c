/* The same with relaxed order: still one at a time, but nothing orders the two visits. A data race.
 * EXPECT all error kind=data-race
 */
#include <pthread.h>
#include <stdatomic.h>

static atomic_flag flag = ATOMIC_FLAG_INIT;
static int inside;

static void *enter(void *arg)
{
    if (!atomic_flag_test_and_set_explicit(&flag, memory_order_relaxed)) {
        inside++;
        atomic_flag_clear_explicit(&flag, memory_order_relaxed);
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
