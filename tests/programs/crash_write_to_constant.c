/* A write to read-only memory, in one order of the threads.
 * EXPECT all error kind=crash
 */
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int x;
static const char text[] = "constant";

static void *work(void *arg)
{
    if (atomic_fetch_add(&x, 1) == 1 && arg) *(char *)arg = 'C';
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, work, (void *)text);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
