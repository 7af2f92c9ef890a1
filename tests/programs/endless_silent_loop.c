/* A loop without any visible operation: the time limit ends it.
 * OPTIONS --time-limit=1
 * EXPECT optimal incomplete
 * EXPECT -DNOTHING optimal incomplete
 */
#include <pthread.h>

static volatile int always = 1;

static void *work(void *arg)
{
#ifdef NOTHING
    for (;;) __asm__ volatile("" ::: "memory");
#else
    while (always) {
    }
#endif
    return arg;
}

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, work, NULL);
    pthread_join(a, NULL);
    return 0;
}
