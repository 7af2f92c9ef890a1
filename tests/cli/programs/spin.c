#include <pthread.h>
#include <stdatomic.h>
static atomic_int flag;
static void *waiter(void *arg)
{
    while (atomic_fetch_add(&flag, 1) >= 0)
        ;
    return arg;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, waiter, 0);
    pthread_join(t, 0);
    return 0;
}
