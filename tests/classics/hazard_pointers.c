/* Hazard pointers: a reader announces what it is about to use and looks again; whoever removes a block frees
 * it only when nobody announces it.
 * EXPECT all verified
 * EXPECT -DNO_SECOND_LOOK all error
 * EXPECT -DNO_SCAN all error
 */
#include "classic.h"

static int *_Atomic shared, *_Atomic hazard;

static void *reader(void *unused)
{
    int *p;
    for (;;) {
        p = shared;
        hazard = p;
#ifndef NO_SECOND_LOOK
        if (p == shared)
#endif
            break;
    }
    assert(*p == 1 || *p == 2);
    hazard = NULL;
    return unused;
}

static void *writer(void *unused)
{
    int *new = malloc(sizeof *new);
    *new = 2;
    int *old = atomic_exchange(&shared, new);
#ifndef NO_SCAN
    while (hazard == old)
        ;
#endif
    free(old);
    return unused;
}

int main(void)
{
    pthread_t r, w;
    int *first = malloc(sizeof *first);
    *first = 1;
    shared = first;
    pthread_create(&r, NULL, reader, NULL);
    pthread_create(&w, NULL, writer, NULL);
    pthread_join(r, NULL);
    pthread_join(w, NULL);
    free(shared);
    return 0;
}
