/* Spin locks are mutexes; tried, their unlock is an event. Two threads that try: both get it, one after
 * the other (2), or one finds it taken (2).
 * EXPECT -DN=2 every verified 2
 * EXPECT -DN=3 every verified 6
 * EXPECT -DN=3 --no-sleep-sets none verified 6
 * EXPECT -DN=2 -DTRY every verified 4
 * EXPECT -DN=2 -DTRY --no-sleep-sets none verified 4
 * EXPECT -DN=2 -DTRY -DNEVER all error kind=assertion line=23
 * EXPECT -DN=2 -DNO_LOCK all error kind=data-race
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static pthread_spinlock_t lock;
static int x;

static void *work(void *arg)
{
#ifdef TRY
    int r = pthread_spin_trylock(&lock);
#ifdef NEVER
    assert(!r);
#endif
    assert(r == 0 || r == EBUSY);
    if (r) return arg;
#elif !defined NO_LOCK
    pthread_spin_lock(&lock);
#endif
    x++;
#ifndef NO_LOCK
    pthread_spin_unlock(&lock);
#endif
    return arg;
}

int main(void)
{
    pthread_t t[N];
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    for (int i = 0; i < N; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < N; i++) pthread_join(t[i], NULL);
#ifdef TRY
    assert(x == 1 || x == N);
#else
    assert(x == N);
#endif
    pthread_spin_destroy(&lock);
    return 0;
}
