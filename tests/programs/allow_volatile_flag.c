/* A volatile flag: its accesses are operations with --data-races=allow, also without a race that was seen.
 * OPTIONS --data-races=allow
 * EXPECT all verified 1
 * EXPECT -O2 all verified 1
 * EXPECT -DEARLY all error kind=assertion
 */
#include <assert.h>
#include <pthread.h>

static volatile int ready;
static int data;

static void *work(void *arg)
{
#ifdef EARLY
    ready = 1;
#endif
    data = 5;
    ready = 1;
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    while (!ready) {
    }
    assert(data == 5);
    pthread_join(t, NULL);
    return 0;
}
