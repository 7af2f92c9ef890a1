/* Two threads push nodes onto a list under a mutex; the one that loses a race for the head forgets its
 * node. What can be reached from globals, stacks and other blocks is no leak, nor is what was freed.
 * OPTIONS --leaks
 * EXPECT every verified 2
 * EXPECT -DLOST all error kind=leak line=30 says=16.bytes.in.1.block
 * EXPECT -DALL all error kind=leak line=30 says=32.bytes.in.2.blocks
 * EXPECT -DEXIT every verified 2
 */
#include <pthread.h>
#include <stdlib.h>

struct node {
    struct node *next;
    int value;
};
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static struct node *head;

static void drop_all(void)
{
    while (head) {
        struct node *next = head->next;
        free(head);
        head = next;
    }
}

static void *push(void *arg)
{
    struct node *n = malloc(sizeof *n);
    pthread_mutex_lock(&m);
    n->next = head;
#ifdef LOST
    n->next = NULL;
#endif
    head = n;
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    atexit(drop_all);
    int *volatile kept = malloc(sizeof *kept);
    pthread_create(&a, NULL, push, NULL);
    pthread_create(&b, NULL, push, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
#ifdef ALL
    head = NULL;
#endif
#ifdef EXIT
    exit(0);
#endif
    free(kept);
    return 0;
}
