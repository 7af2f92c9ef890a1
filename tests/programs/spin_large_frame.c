/* A loop that waits in a function with large local variables, and one deep in a recursion.
 * EXPECT every verified 1
 * EXPECT -DNEVER all error kind=livelock
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static _Atomic int flag;

static int deep(int depth)
{
    char space[64];
    memset(space, depth, sizeof space);
    if (depth) return deep(depth - 1) + space[3];
    while (!atomic_load(&flag)) {
    }
    return space[5];
}

static void *work(void *arg)
{
    int numbers[1000];
    memset(numbers, 0, sizeof numbers);
    while (!atomic_load(&flag)) {
    }
    return numbers[deep(20) % 1000] ? arg : NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
#ifndef NEVER
    atomic_store(&flag, 1);
#endif
    pthread_join(t, NULL);
    return 0;
}
