/* A queue for one producer and one consumer: a list of nodes with room for two items each. It is on the stack of the
 * consumer, which waits in loops for the producer: what the producer writes there is no part of the consumer's local
 * state, or else when a loop is stopped depends on more than the consumer's own past.
 * clang at -O0 leaves slots of its frames unset while it calls a hook, and the slots contain what earlier hooks left on the
 * stack. That depends on how the search goes back. It is not part of the local state (runtime/loops/local.c).
 * OPTIONS --data-races=allow
 * EXPECT every verified
 * EXPECT -O0 sleep verified
 * EXPECT dpor verified
 * EXPECT s-por verified
 * EXPECT -O0 all verified
 * EXPECT -O2 all verified
 * EXPECT --backtrack=rerun optimal verified
 * EXPECT --backtrack=undo optimal verified
 * EXPECT --backtrack=checkpoint optimal verified
 * EXPECT -DGLOBAL all verified
 * EXPECT -O2 -DGLOBAL all verified
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define ROOM  2
#define ITEMS 3

struct node {
    int *read;
    int buffer[ROOM];
    int *volatile write;
    struct node *next;
};

struct queue {
    struct node *head;
    struct node *volatile tail;
};

static struct node *new_node(void)
{
    struct node *n = malloc(sizeof *n);
    n->read = n->write = n->buffer;
    n->next = NULL;
    return n;
}

static void insert(struct queue *q, int item)
{
    struct node *t = q->tail;
    if (t->write == t->buffer + ROOM) {
        struct node *n = new_node();
        n->buffer[0] = item;
        n->write = n->buffer + 1;
        t->next = n;
        q->tail = n;
    } else {
        *t->write = item;
        t->write++;
    }
}

static bool is_empty(const struct queue *q) { return q->head == q->tail && q->head->read == q->head->write; }

static int get(struct queue *q)
{
    while (is_empty(q)) continue;
    struct node *h = q->head;
    if (h->read == h->buffer + ROOM) {
        q->head = h->next;
        free(h);
        h = q->head;
    }
    while (h->read == h->write) continue;
    return *h->read++;
}

static void *producer(void *argument)
{
    for (int i = 0; i < ITEMS; i++) insert(argument, i);
    return NULL;
}

int main(void)
{
#ifdef GLOBAL
    static
#endif
        struct queue q;
    q.head = q.tail = new_node();
    pthread_t t;
    pthread_create(&t, NULL, producer, &q);
    for (int i = 0; i < ITEMS; i++) assert(get(&q) == i);
    pthread_join(t, NULL);
    free(q.head);
    return 0;
}
