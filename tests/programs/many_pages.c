/* More pages written to than the kernel allows mappings.
 * EXPECT optimal verified 2
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define SIZE ((unsigned long)288 << 20)
static _Atomic int x;
static char large[SIZE];

static void *work(void *arg)
{
    atomic_fetch_add(&x, 1);
    return arg;
}

int main(void)
{
    pthread_t a;
    for (volatile char *p = large; p < large + SIZE; p += 8192) {
        assert(*p == 0);
        *p = 1;
    }
    pthread_create(&a, NULL, work, NULL);
    atomic_fetch_add(&x, 1);
    pthread_join(a, NULL);
    return 0;
}
