/* fork is refused by name.
 * EXPECT optimal failed exit=2 says=fork
 */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static _Atomic int x;

static void *work(void *arg)
{
    atomic_fetch_add(&x, 1);
    return arg;
}

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, work, NULL);
    pthread_join(a, NULL);
    return fork() < 0;
}
