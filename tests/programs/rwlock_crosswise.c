/* Two read-write locks taken crosswise: a deadlock if both write, or if each writes one that the other
 * reads; none if all read, or if everybody reads the same one first and nobody writes it.
 * EXPECT -DFIRST=wr -DSECOND=wr all error kind=deadlock
 * EXPECT -DFIRST=rd -DSECOND=wr all error kind=deadlock
 * EXPECT -DFIRST=wr -DSECOND=rd all error kind=deadlock
 * EXPECT -DFIRST=rd -DSECOND=rd every verified 1
 * EXPECT -DFIRST=wr -DSECOND=wr -DORDERED every verified 2
 */
#include <pthread.h>

#define TAKE(how)  TAKE_(how)
#define TAKE_(how) pthread_rwlock_##how##lock

static pthread_rwlock_t a = PTHREAD_RWLOCK_INITIALIZER, b = PTHREAD_RWLOCK_INITIALIZER;

static void take_both(pthread_rwlock_t *p, pthread_rwlock_t *q)
{
    TAKE(FIRST)(p);
    TAKE(SECOND)(q);
    pthread_rwlock_unlock(q);
    pthread_rwlock_unlock(p);
}

static void *one(void *arg)
{
    take_both(&a, &b);
    return arg;
}

static void *two(void *arg)
{
#ifdef ORDERED
    take_both(&a, &b);
#else
    take_both(&b, &a);
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
    return 0;
}
