/* Four megabytes of local variables: as much as an ordinary thread may have.
 * EXPECT all verified 2
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static _Atomic int x;

static void *work(void *arg)
{
    char area[4 << 20];
    memset(area, 1, sizeof area);
    int sum = 0;
    for (unsigned i = 0; i < sizeof area; i += 4096) sum += area[i];
    assert(sum == 1024);
    atomic_fetch_add(&x, sum);
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
