#include <pthread.h>
#include <stdatomic.h>
static atomic_int n;
static void *worker(void *arg) { atomic_store(&n, 1); return arg; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    int early = atomic_load(&n);
    pthread_join(t, 0);
    return early ? 3 : 0;
}
