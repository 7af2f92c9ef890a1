/* A program that could call fork but does not is fine.
 * EXPECT every verified 1
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

static _Atomic int x;

static void *work(void *arg)
{
    if (atomic_fetch_add(&x, 1) > 5) fork();
    return arg;
}

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, work, NULL);
    pthread_join(a, NULL);
    return 0;
}
