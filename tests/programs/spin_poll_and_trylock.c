/* A thread that polls under a mutex can be noticed, again and again, by one that tries the mutex: both
 * tries may fail. So its rounds cannot be left out, and there are executions without end: a search without states
 * reaches the step limit, and then follows the loop for three rounds. Without the tries the rounds can be left out.
 * EXPECT --max-steps=300 all error kind=assertion line=40
 * EXPECT all error kind=assertion line=40
 * EXPECT -DNO_TRY every verified
 */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int ready;

static void *poll(void *arg)
{
    for (int done = 0; !done;) {
        pthread_mutex_lock(&m);
        done = ready;
        pthread_mutex_unlock(&m);
    }
    return arg;
}

static int busy(void)
{
#ifdef NO_TRY
    return 0;
#else
    if (pthread_mutex_trylock(&m)) return 1;
    pthread_mutex_unlock(&m);
    return 0;
#endif
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, poll, NULL);
    int first = busy(), second = busy();
    assert(!first || !second);
    pthread_mutex_lock(&m);
    ready = 1;
    pthread_mutex_unlock(&m);
    pthread_join(t, NULL);
    return 0;
}
