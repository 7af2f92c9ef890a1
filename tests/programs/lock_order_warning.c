/* Two mutexes in both orders, but never at the same time: no deadlock, but a warning. None if a third mutex
 * guards both orders, or if one thread does both.
 * EXPECT every verified 1 says=circle
 * EXPECT -DGATE every verified 2
 */
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER,
                       gate = PTHREAD_MUTEX_INITIALIZER;

static void *one_way(void *arg)
{
    pthread_mutex_lock(&gate);
#ifndef GATE
    pthread_mutex_unlock(&gate);
#endif
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
#ifdef GATE
    pthread_mutex_unlock(&gate);
#endif
    return arg;
}

static void *other_way(void *arg)
{
    pthread_mutex_lock(&gate);
#ifndef GATE
    pthread_mutex_unlock(&gate);
#endif
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
#ifdef GATE
    pthread_mutex_unlock(&gate);
#endif
    return arg;
}

int main(void)
{
    pthread_t t, u;
    pthread_create(&t, NULL, one_way, NULL);
#ifndef GATE
    pthread_join(t, NULL);
#endif
    pthread_create(&u, NULL, other_way, NULL);
#ifdef GATE
    pthread_join(t, NULL);
#endif
    pthread_join(u, NULL);
    return 0;
}
