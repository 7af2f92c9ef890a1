/* Two threads add to the same N variables, one after the other: N races that have nothing to do with each
 * other, 2^N classes. An execution must not cost more because there are many races on its path that the
 * search has dealt with before: ten thousand executions of two thousand steps each are a matter of a second.
 * EXPECT -DN=3 every verified 8
 * EXPECT -DN=10 all verified 1024
 * EXPECT --max-executions=10000 optimal incomplete 10000
 * EXPECT --max-executions=10000 source incomplete 10000
 * A limit on memory holds wherever the memory goes: at the end of the first execution, where N races want N
 * sequences of up to N steps (about 3 GiB in all), so that optimal goes on as source, without them; in the
 * course of one execution, where every step needs some; and it is not in the way of what stays below it.
 * EXPECT -DN=20000 --max-steps=1000000 --memory-limit=100M --max-executions=5 optimal incomplete 5 mib=200
 * EXPECT -DN=20000 --max-steps=1000000 --memory-limit=10M all incomplete 0 says=memory mib=100
 * EXPECT --memory-limit=10M -DN=4 all verified 16
 */
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 1000
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
