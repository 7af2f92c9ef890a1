/* Initialising and destroying is a write to the object: whoever does so while others may use it races with
 * them, in whatever order it happens. After they have been joined it is fine.
 * EXPECT -DFINE every verified 2
 * EXPECT -DINIT all error kind=data-race
 * EXPECT -DDESTROY all error
 * EXPECT -DSEMAPHORE all error kind=data-race
 * EXPECT -DRWLOCK all error kind=data-race
 * EXPECT -DBOTH_INIT all error kind=data-race
 * EXPECT -DFREED all error
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

static pthread_mutex_t *m;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static sem_t s;
static int x;

static void *work(void *arg)
{
#ifdef SEMAPHORE
    sem_post(&s);
#elif defined RWLOCK
    pthread_rwlock_rdlock(&rw);
    pthread_rwlock_unlock(&rw);
#elif defined BOTH_INIT
    pthread_mutex_init(m, NULL);
#else
    pthread_mutex_lock(m);
    x++;
    pthread_mutex_unlock(m);
#endif
    return arg;
}

int main(void)
{
    pthread_t a, b;
    m = malloc(sizeof *m);
    pthread_mutex_init(m, NULL);
    sem_init(&s, 0, 1);
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
#ifdef INIT
    pthread_mutex_init(m, NULL);
#elif defined DESTROY
    pthread_mutex_destroy(m);
#elif defined SEMAPHORE
    sem_init(&s, 0, 1);
#elif defined RWLOCK
    pthread_rwlock_init(&rw, NULL);
#elif defined FREED
    free(m);
#endif
    pthread_join(a, NULL);
    pthread_join(b, NULL);
#ifdef FINE
    pthread_mutex_destroy(m);
    pthread_mutex_init(m, NULL); /* and once more */
    pthread_mutex_lock(m);
    pthread_mutex_unlock(m);
    free(m);
#endif
    return 0;
}
