/* A stack without locks. push retries if another thread was faster, but it still loses nodes:
 *
 *     mazurka check examples/stack.c
 *
 * stack_fixed.c is the same program without the bug.
 *
 * EXPECT all error kind=assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    struct node *next;
    int value;
};

static _Atomic(struct node *) top;

static void push(int value)
{
    struct node *node = malloc(sizeof *node);
    struct node *old = atomic_load(&top);
    node->value = value;
    node->next = old;
    while (!atomic_compare_exchange_weak(&top, &old, node)) {
    }
}

static void *pusher(void *arg)
{
    push(*(int *)arg);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    int one = 1, two = 2, sum = 0;
    pthread_create(&a, NULL, pusher, &one);
    pthread_create(&b, NULL, pusher, &two);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    for (struct node *n = atomic_load(&top); n; n = n->next) sum += n->value;
    assert(sum == 3);
    return 0;
}
