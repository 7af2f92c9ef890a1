/* A limit on memory holds wherever the memory goes: at the end of the first execution, where N races want N
 * sequences of up to N steps (about 3 GiB in all); in the course of one execution, where every step needs
 * some; and it is not in the way of what stays below it.
 * OPTIONS --max-steps=1000000
 * EXPECT --memory-limit=100M optimal incomplete 1 says=memory mib=200
 * EXPECT --memory-limit=10M all incomplete 0 says=memory mib=100
 * EXPECT --memory-limit=10M -DN=4 all verified 16
 */
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 20000
#endif

static _Atomic int x[N];

static void *add(void *arg)
{
    for (int i = 0; i < N; i++) atomic_fetch_add(&x[i], 1);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, add, NULL);
    pthread_create(&b, NULL, add, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
