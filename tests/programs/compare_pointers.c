/* Addresses of blocks depend only on the thread that asked for them: threads may sort by them.
 * EXPECT every verified 2
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic int x[64];
static _Atomic int turn;

static void *work(void *arg)
{
    atomic_fetch_add(&turn, 1);
    char *p = malloc(32);
    atomic_fetch_add(&x[((size_t)p >> 4) % 32 + (arg ? 32 : 0)], 1);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, &turn);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
