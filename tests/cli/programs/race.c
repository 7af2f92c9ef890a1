#include <pthread.h>
int counter;
static void bump(void) { counter++; }
static void *worker(void *arg)
{
    bump();
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
