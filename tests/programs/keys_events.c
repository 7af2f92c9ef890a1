/* A destructor may lock and unlock: it is part of the thread. Two threads: the destructors' sections have
 * two orders. A value that nobody hands back is no event, so without the lock there is one class.
 * EXPECT every verified 2
 * EXPECT -DNO_EVENT every verified 1
 * EXPECT -DKEEP_LOCK all error kind=deadlock
 * EXPECT -DMAIN_EXITS every verified 6
 */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key;
static int ended;

static void at_end(void *value)
{
    (void)value;
#ifndef NO_EVENT
    pthread_mutex_lock(&m);
    ended++;
#ifndef KEEP_LOCK
    pthread_mutex_unlock(&m);
#endif
#endif
}

static void *work(void *arg)
{
    pthread_setspecific(key, &key);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_key_create(&key, at_end);
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
#ifdef MAIN_EXITS
    pthread_setspecific(key, &key);
    pthread_exit(NULL);
#endif
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
