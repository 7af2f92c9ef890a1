/* Functions that ask for no thread sanitizer are checked all the same. -DATOMIC: with an atomic operation.
 * -DRACE: without the lock.
 * EXPECT every verified 6
 * EXPECT -O0 all verified 6
 * EXPECT -O2 all verified 6
 * EXPECT stateful verified
 * EXPECT -DATOMIC all verified 6
 * EXPECT -DATOMIC -O2 all verified 6
 * EXPECT -DSPLIT all error kind=assertion
 * EXPECT -DRACE all error kind=data-race
 * EXPECT -DRACE -O2 all error kind=data-race
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static int g;
static atomic_int a;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline, no_sanitize_thread)) static void count(void) { g++; }
__attribute__((noinline, no_sanitize("thread"))) static void count_atomic(void) { atomic_fetch_add(&a, 1); }
__attribute__((noinline, no_sanitize("thread"))) static void count_split(void)
{
    atomic_store(&a, atomic_load(&a) + 1);
}

static void *work(void *x)
{
    for (int i = 0; i < 2; i++) {
#if defined ATOMIC
        count_atomic();
#elif defined SPLIT
        count_split();
#elif defined RACE
        count();
#else
        pthread_mutex_lock(&mutex);
        count();
        pthread_mutex_unlock(&mutex);
#endif
    }
    return x;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    (void)count, (void)count_atomic, (void)count_split;
    assert(g + a == 4);
    return 0;
}
