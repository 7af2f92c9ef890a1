/* The beginner's loop, with a counter: it never comes back to the same local state. The data race is found at once, by
 * letting the other threads run on while the loop is stopped (runtime/loops/spin.c). A long computation (-DLONG) is no loop
 * that waits: the search starts over once and is complete.
 * EXPECT all error kind=data-race
 * EXPECT -DLOCAL all error kind=data-race
 * EXPECT -DLONG every verified 2
 */
#include <pthread.h>
#include <stdatomic.h>

static int ready;
static long n;
static atomic_int arrived;
static int numbers[1024];

static void *thread(void *unused)
{
#ifdef LONG
    arrived++;
#else
    ready = 1;
#endif
    return unused;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
#ifdef LONG
    for (int i = 0; i < 1200000; i++) n += numbers[i % 1024];
    arrived++;
#elif defined LOCAL
    volatile long rounds = 0;
    while (!ready) rounds++;
#else
    while (!ready) n++;
#endif
    pthread_join(t, NULL);
    return ready + numbers[0] - ready;
}
