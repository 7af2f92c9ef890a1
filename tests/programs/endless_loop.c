/* A loop that never ends and changes something each time: the step limit ends it, and the verdict says so.
 * OPTIONS --max-steps=200
 * EXPECT all incomplete
 */
#include <pthread.h>
#include <stdatomic.h>

static _Atomic unsigned x;

static void *work(void *arg)
{
    for (;;) atomic_fetch_add(&x, 1);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
