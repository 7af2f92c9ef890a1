/* The flag is looked at outside of the lock: the signal may come before the wait. N - 1 signallers set the flag. Depth 2. */
#include "bugs.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static atomic_int flags;

static void *work(void *arg)
{
    if ((intptr_t)arg > 0) {
        atomic_fetch_add(&flags, 1);
        pthread_mutex_lock(&m), pthread_cond_signal(&c), pthread_mutex_unlock(&m);
        return arg;
    }
    if (atomic_load(&flags) == 0) {
        pthread_mutex_lock(&m), pthread_cond_wait(&c, &m), pthread_mutex_unlock(&m);
    }
    return arg;
}

int main(void)
{
    run(N, work);
    return 0;
}
