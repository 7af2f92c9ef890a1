/* Time, process number and random numbers are the same in every execution, and sleeping takes no time.
 * The clock is shared: of read, three sleeps, read in each thread there are 130 orders, times 2 of x.
 * EXPECT every verified 260
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static _Atomic int x;

static void *work(void *arg)
{
    struct timespec before, after, pause = {2, 1000000};
    clock_gettime(CLOCK_MONOTONIC, &before);
    sleep(10);
    usleep(500000);
    nanosleep(&pause, NULL);
    clock_gettime(CLOCK_MONOTONIC, &after);
    assert(after.tv_sec >= before.tv_sec);
    atomic_fetch_add(&x, 1);
    return arg;
}

int main(void)
{
    static _Atomic int cell[64];
    pthread_t a, b;
    srand((unsigned)time(NULL));
    atomic_store(&cell[rand() % 64], 1);
    atomic_store(&cell[getpid() % 64], 1);
    atomic_store(&cell[clock() % 64], 1);
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
