#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int counter;
static void *worker(void *arg) { atomic_fetch_add(&counter, 1); return arg; }
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(counter == 2);
    return 0;
}
