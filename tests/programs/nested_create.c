/* Threads created by threads, three deep: a chain, so only one order.
 * EXPECT every verified 1
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int x;
static int plain;

static void *work(void *arg)
{
    int *depth = arg;
    plain++;
    atomic_fetch_add(&x, 1);
    if (*depth > 0) {
        pthread_t t;
        int next = *depth - 1;
        pthread_create(&t, NULL, work, &next);
        pthread_join(t, NULL);
    }
    plain++;
    atomic_fetch_add(&x, 1);
    return NULL;
}

int main(void)
{
    pthread_t t;
    int depth = 3;
    pthread_create(&t, NULL, work, &depth);
    pthread_join(t, NULL);
    assert(x == 8 && plain == 8);
    return 0;
}
