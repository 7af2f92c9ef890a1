/* One thread frees a node, another still uses it, all under a mutex: no data race, but in one of
 * the two orders a use after free. With -DLATE the node is freed after the join.
 * EXPECT all error kind=use-after-free line=23 thread=0.1
 * EXPECT -DWRITE all error kind=use-after-free line=21
 * EXPECT -DLATE every verified 2
 */
#include <pthread.h>
#include <stdlib.h>

struct node {
    int value, other;
};
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static struct node *shared;
static int seen;

static void *user(void *arg)
{
    pthread_mutex_lock(&m);
#ifdef WRITE
    shared->other = 2;
#endif
    seen = shared->value;
    pthread_mutex_unlock(&m);
    return arg;
}

static void *owner(void *arg)
{
    pthread_mutex_lock(&m);
#ifndef LATE
    free(shared);
#endif
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    shared = calloc(1, sizeof *shared);
    pthread_create(&a, NULL, user, NULL);
    pthread_create(&b, NULL, owner, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
#ifdef LATE
    free(shared);
#endif
    return seen;
}
