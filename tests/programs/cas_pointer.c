/* Compare and swap of pointers: a list to which two threads push.
 * EXPECT every verified 4
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    struct node *next;
    int value;
};
static _Atomic(struct node *) head;

static void *push(void *arg)
{
    struct node *n = malloc(sizeof *n);
    n->value = 1;
    n->next = atomic_load(&head);
    while (!atomic_compare_exchange_strong(&head, &n->next, n)) {
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, push, NULL);
    pthread_create(&b, NULL, push, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    int sum = 0;
    for (struct node *n = head; n; n = n->next) sum += n->value;
    assert(sum == 2);
    return 0;
}
