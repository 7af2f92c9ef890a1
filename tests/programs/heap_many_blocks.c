/* Thousands of allocations and a very large one in each thread.
 * EXPECT optimal verified 24
 * EXPECT source verified 24 blocked=0
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static _Atomic int x;

static void *work(void *arg)
{
    size_t size = 64 << 20;
    char *large = malloc(size);
    assert(large);
    large[0] = large[size - 1] = 1;
    atomic_fetch_add(&x, 1);
    for (int i = 0; i < 5000; i++) {
        char *p = malloc(100);
        memset(p, 1, 100);
        free(p);
    }
    free(large);
    return arg;
}

int main(void)
{
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    return 0;
}
