/* A thread says that it is done before it has released the mutex; another one destroys or frees the mutex
 * without having had it since. That the release is no event must not hide it.
 * With -DTRY the stateful algorithms come first to an execution in which the mutex is destroyed while it is locked.
 * EXPECT all error kind=data-race
 * EXPECT -DFREE all error kind=data-race
 * EXPECT -DFREE -DTRY all error
 * EXPECT -DTRY all error kind=data-race search=stateless
 * EXPECT -DTRY all error
 * EXPECT -DFREE --data-races=allow all error kind=use-after-free
 * EXPECT -DLOCK every verified
 * EXPECT -DLOCK -DFREE every verified
 * EXPECT -DLOCK -DFREE -DTRY every verified
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct object {
    pthread_mutex_t mutex;
    _Atomic int done;
};

static void *work(void *arg)
{
    struct object *o = arg;
#ifdef TRY
    if (pthread_mutex_trylock(&o->mutex)) pthread_mutex_lock(&o->mutex);
#else
    pthread_mutex_lock(&o->mutex);
#endif
    o->done = 1;
    pthread_mutex_unlock(&o->mutex);
    return NULL;
}

int main(void)
{
    pthread_t t;
    struct object *o = calloc(1, sizeof *o);
    pthread_mutex_init(&o->mutex, NULL);
    pthread_create(&t, NULL, work, o);
    while (!o->done) {
    }
#ifdef LOCK
    pthread_mutex_lock(&o->mutex);
    pthread_mutex_unlock(&o->mutex);
#endif
#ifdef FREE
    free(o);
#else
    pthread_mutex_destroy(&o->mutex);
#endif
    pthread_join(t, NULL);
    return 0;
}
