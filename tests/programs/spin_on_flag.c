/* A thread that spins on a flag: the other one may never run while it does. Bounded by the step limit.
 * OPTIONS --max-steps=500
 * EXPECT all incomplete
 */
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int flag;

static void *spinner(void *arg)
{
    while (!atomic_load(&flag)) {
    }
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, spinner, NULL);
    atomic_store(&flag, 1);
    pthread_join(t, NULL);
    return 0;
}
