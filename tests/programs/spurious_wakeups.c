/* A wait that is not in a loop: wrong only if waits may end without a signal.
 * EXPECT all verified
 * EXPECT --spurious-wakeups all error kind=assertion
 * EXPECT --spurious-wakeups all error says=spurious.wakeup
 * EXPECT --spurious-wakeups -DLOOP all verified
 * EXPECT --spurious-wakeups -DLOOP --strict optimal verified
 * EXPECT --spurious-wakeups -DCOUNTER all verified says=more.than.3.spurious search=stateless
 * EXPECT --spurious-wakeups -DCOUNTER --strict optimal incomplete
 * EXPECT --spurious-wakeups -DCOUNTER stateful verified
 * EXPECT --spurious-wakeups -DCOUNTER -DBROKEN all error kind=assertion
 */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready;
static int waiting, rounds;

static void *work(void *arg)
{
    pthread_mutex_lock(&m);
    ready = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    pthread_mutex_lock(&m);
#ifdef COUNTER /* each round changes something: the search needs a bound */
    while (!ready) {
        waiting++;
        pthread_cond_wait(&c, &m);
        waiting--;
#ifdef BROKEN
        assert(++rounds < 2);
#endif
    }
#elif defined LOOP
    while (!ready) pthread_cond_wait(&c, &m);
#else
    if (!ready) pthread_cond_wait(&c, &m);
#endif
    assert(ready);
    pthread_mutex_unlock(&m);
    pthread_join(t, NULL);
    return 0;
}
