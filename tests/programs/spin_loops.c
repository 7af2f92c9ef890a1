/* Loops of other kinds. Two threads that wait for each other: livelock. A loop with a counter ends by
 * itself and is run as it is: with three tries the flag is seen at one of them, or never: 4. A loop that
 * changes something each time runs into the step limit.
 * With -O2 clang knows that nobody sets the second flag, and takes the endless loop for undefined: opt=0.
 * OPTIONS --max-steps=300
 * EXPECT -DEACH_OTHER all error kind=livelock
 * EXPECT -DBOUNDED every verified 4
 * EXPECT -DBOUNDED --no-sleep-sets none verified 4
 * EXPECT -DCHANGES all incomplete
 * EXPECT -DCAS_SAME all verified
 * EXPECT -DCAS_SAME -DNEVER all error kind=livelock thread=0.1
 * EXPECT -DTWO_FLAGS all verified
 * EXPECT -DTWO_FLAGS -DNEVER all error kind=livelock opt=0
 * EXPECT -DMIXED all error kind=livelock
 * EXPECT -DCHAIN all verified
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int a, b, counter;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *one(void *arg)
{
#ifdef EACH_OTHER
    while (!atomic_load(&b)) {
    }
    atomic_store(&a, 1);
#elif defined BOUNDED
    for (int i = 0; i < 3; i++)
        if (atomic_load(&a)) break;
#elif defined CHANGES
    while (!atomic_load(&a)) atomic_fetch_add(&counter, 1);
#elif defined CAS_SAME /* changes nothing as long as it fails */
    int expected;
    do expected = 1;
    while (!atomic_compare_exchange_strong(&a, &expected, 2));
#elif defined TWO_FLAGS
    while (!atomic_load(&a) || !atomic_load(&b)) {
    }
#elif defined MIXED /* spins with a mutex that the other needs to set the flag */
    pthread_mutex_lock(&m);
    while (!atomic_load(&a)) {
    }
    pthread_mutex_unlock(&m);
#elif defined CHAIN
    while (!atomic_load(&a)) {
    }
    atomic_store(&b, 1);
#endif
    return arg;
}

static void *two(void *arg)
{
#ifdef EACH_OTHER
    while (!atomic_load(&a)) {
    }
    atomic_store(&b, 1);
#elif defined MIXED
    pthread_mutex_lock(&m);
    atomic_store(&a, 1);
    pthread_mutex_unlock(&m);
#elif defined CHAIN
    atomic_store(&a, 1);
    while (!atomic_load(&b)) {
    }
#elif !defined NEVER
    atomic_store(&a, 1);
#endif
#ifdef TWO_FLAGS
    atomic_store(&b, 1);
#endif
    return arg;
}

int main(void)
{
    pthread_t s, t;
    pthread_create(&s, NULL, one, NULL);
    pthread_create(&t, NULL, two, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    (void)counter, (void)m;
    return 0;
}
