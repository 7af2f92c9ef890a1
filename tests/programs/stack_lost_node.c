/* A push made of a load and a store instead of a compare and swap: a node may be lost.
 * EXPECT all error kind=assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    struct node *next;
};
static _Atomic(struct node *) top;

static void *push(void *arg)
{
    struct node *n = malloc(sizeof *n);
    n->next = atomic_load(&top);
    atomic_store(&top, n);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, push, NULL);
    pthread_create(&b, NULL, push, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    int length = 0;
    for (struct node *n = atomic_load(&top); n; n = n->next) length++;
    assert(length == 2);
    return 0;
}
