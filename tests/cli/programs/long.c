#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;
static void *worker(void *arg)
{
    for (int i = 0; i < 10; i++) atomic_fetch_add(&x, 1);
    return arg;
}
int main(void)
{
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    return 0;
}
