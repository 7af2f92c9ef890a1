/* A list that was left in the heap is gone in the next execution, and blocks have the same addresses.
 * EXPECT every verified 6
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    struct node *next;
};
static struct node *list;
static _Atomic int x;

static void *work(void *arg)
{
    atomic_fetch_add(&x, 1);
    return arg;
}

int main(void)
{
    pthread_t t[3];
    assert(list == NULL);
    for (int i = 0; i < 10; i++) {
        struct node *n = malloc(sizeof *n);
        n->next = list;
        list = n;
    }
    for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    return 0;
}
