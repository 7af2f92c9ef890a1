/* Double-checked locking: a race with a plain pointer, right with an atomic one.
 * EXPECT all error kind=data-race
 * EXPECT -DATOMIC every verified 4
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifdef ATOMIC
static _Atomic(int *) instance;
#else
static int *instance;
#endif
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static int *get(void)
{
    int *p = instance;
    if (!p) {
        pthread_mutex_lock(&m);
        p = instance;
        if (!p) {
            p = malloc(sizeof *p);
            *p = 42;
            instance = p;
        }
        pthread_mutex_unlock(&m);
    }
    return p;
}

static void *user(void *arg)
{
    assert(*get() == 42);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, user, NULL);
    pthread_create(&b, NULL, user, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
