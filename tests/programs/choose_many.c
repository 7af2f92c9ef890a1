/* mz_choose of more values than one step can choose among: each of them exactly once. The thread and main
 * have nothing to do with each other.
 * EXPECT every verified 65
 * EXPECT -DCOUNT=64 every verified 64
 * EXPECT -DCOUNT=200 every verified 200
 * EXPECT -DCOUNT=5000 optimal verified 5000
 * EXPECT -DFIND=64 all error kind=assertion
 * EXPECT -DCOUNT=5000 -DFIND=4999 optimal error kind=assertion
 */
#include <mazurka.h>
#include <pthread.h>

#ifndef COUNT
#define COUNT 65
#endif
#ifndef FIND
#define FIND COUNT
#endif

static void *work(void *arg)
{
    unsigned value = mz_choose(COUNT);
    assert(value < COUNT && value != FIND);
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    pthread_join(t, NULL);
    return 0;
}
