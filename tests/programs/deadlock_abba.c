/* Two mutexes taken in opposite orders: a deadlock. In one order, or behind a third mutex, none.
 * EXPECT all error kind=deadlock
 * EXPECT sleep error kind=deadlock
 * EXPECT -DSAME_ORDER every verified 2
 * EXPECT -DGATE every verified 2
 */
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static int x;

static void both(pthread_mutex_t *first, pthread_mutex_t *second)
{
#ifdef GATE
    pthread_mutex_lock(&gate);
#endif
    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
    x++;
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
#ifdef GATE
    pthread_mutex_unlock(&gate);
#endif
}

static void *ab(void *arg)
{
    both(&a, &b);
    return arg;
}

static void *ba(void *arg)
{
#ifdef SAME_ORDER
    both(&a, &b);
#else
    both(&b, &a);
#endif
    return arg;
}

int main(void)
{
    pthread_t t, u;
    (void)gate;
    pthread_create(&t, NULL, ab, NULL);
    pthread_create(&u, NULL, ba, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    return 0;
}
