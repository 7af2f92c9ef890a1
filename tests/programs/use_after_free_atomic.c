/* A reference counter in the block that it counts. Dropping it is right; looking at it once more is
 * not: the other thread may have freed the block by then. With -DREALLOC the block was moved away.
 * EXPECT every verified 2
 * EXPECT -DLOOK all error
 * EXPECT -DREALLOC all error kind=use-after-free line=29
 * EXPECT -DLOOK --keep-going all error errors=3
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct object {
    _Atomic int references;
};

__attribute__((noinline)) static void drop(struct object *o)
{
    if (atomic_fetch_sub(&o->references, 1) == 1) free(o);
#ifdef LOOK
    else if (atomic_load(&o->references) == 7)
        abort();
#endif
}

static void *user(void *arg)
{
#ifdef REALLOC
    struct object *volatile o = realloc(arg, 1000);
    atomic_store(&((struct object *)arg)->references, 2);
    free(o);
#else
    drop(arg);
#endif
    return NULL;
}

int main(void)
{
    pthread_t a;
    struct object *o = malloc(sizeof *o);
    atomic_init(&o->references, 2);
    pthread_create(&a, NULL, user, o);
#ifndef REALLOC
    drop(o);
#endif
    pthread_join(a, NULL);
    return 0;
}
