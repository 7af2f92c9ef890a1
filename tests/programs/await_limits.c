/* What conditions of mz_await must not do, and how many variables they may read.
 *   WRITES    a condition that adds to a variable
 *   LOCKS     a condition that locks a mutex
 *   SECTION   mz_await in a program with atomic sections
 *   UNSTABLE  a condition that is not the same when it is evaluated again
 *   FLAGS     a thread sets so many flags, and a condition reads them all: it holds after the last one. Another thread writes
 *             a variable that is no flag. With up to 31 flags nothing else is in conflict: 1 class. Beyond that, the await
 *             reads all memory: 2 classes
 *   RACE      a plain variable in a condition, which is set while the thread waits
 * EXPECT -DWRITES optimal failed says=mz_await
 * EXPECT -DLOCKS optimal failed says=mz_await
 * EXPECT -DSECTION optimal failed says=mz_await
 * EXPECT -DUNSTABLE optimal failed says=mz_await
 * EXPECT -DFLAGS=31 every verified 1
 * EXPECT -DFLAGS=32 every verified 2
 * EXPECT -DRACE all error kind=data-race
 * EXPECT -DRACE --data-races=allow optimal failed says=mz_await
 */
#include <mazurka.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef FLAGS
#define FLAGS 1
#endif

static atomic_int flags[FLAGS], other;
__attribute__((unused)) static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int plain;
__attribute__((unused)) static int evaluations;

static int holds(void *unused)
{
    (void)unused;
#if defined WRITES
    return atomic_fetch_add(&flags[0], 1) > 0;
#elif defined LOCKS
    pthread_mutex_lock(&m);
    int set = atomic_load(&flags[0]);
    pthread_mutex_unlock(&m);
    return set;
#elif defined UNSTABLE
    return atomic_load(&flags[0]) && ++evaluations % 2;
#elif defined RACE
    return plain;
#else
    int all = 1;
    for (int i = 0; i < FLAGS; i++) all &= atomic_load(&flags[i]);
    return all;
#endif
}

static void *sets(void *unused)
{
#ifdef SECTION
    mz_atomic_begin();
    atomic_store(&flags[0], 1);
    mz_atomic_end();
#endif
    plain = 1;
    for (int i = 0; i < FLAGS; i++) atomic_store(&flags[i], 1);
    return unused;
}

static void *writes(void *unused)
{
    atomic_store(&other, 1);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, sets, NULL);
    pthread_create(&b, NULL, writes, NULL);
    mz_await(holds, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
