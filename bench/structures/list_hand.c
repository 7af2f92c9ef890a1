/* A set as a sorted list with a mutex in each node, taken hand over hand.
 * -DBUG: a thread unlocks a node before it locks the next one. In between another thread may unlink the next
 * node: a key that is then added behind that node is lost.
 * EXPECT -DT1=a1 -DT2=a1 -DT3=r1 all verified 6
 * EXPECT -DT0=a1 -DT1=a2 -DT2=r1 -DT3=c2 all verified
 * EXPECT -DBUG -DT0=a1 -DT1=a2 -DT2=r1 -DT3=c2 all error kind=assertion
 */
#include "set_client.h"

struct node {
    int key;
    struct node *next;
    pthread_mutex_t lock;
};

static struct node head = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void setup(void) {}

/* Return the last node before the key, locked. No other thread can change, pass or remove the node behind it. */
static struct node *find(int key)
{
    struct node *p = &head;
    pthread_mutex_lock(&p->lock);
    while (p->next && p->next->key < key) {
        struct node *next = p->next;
#ifdef BUG
        pthread_mutex_unlock(&p->lock);
        pthread_mutex_lock(&next->lock);
#else
        pthread_mutex_lock(&next->lock);
        pthread_mutex_unlock(&p->lock);
#endif
        p = next;
    }
    return p;
}

static bool is_next(const struct node *p, int key) { return p->next && p->next->key == key; }

static bool add(int key)
{
    struct node *p = find(key);
    bool absent = !is_next(p, key);
    if (absent) {
        struct node *n = malloc(sizeof *n);
        n->key = key;
        n->next = p->next;
        pthread_mutex_init(&n->lock, NULL);
        p->next = n;
    }
    pthread_mutex_unlock(&p->lock);
    return absent;
}

static bool take(int key)
{
    struct node *p = find(key);
    bool present = is_next(p, key);
    if (present) {
        struct node *n = p->next;
        pthread_mutex_lock(&n->lock); /* wait until no other thread holds it */
        p->next = n->next;
        pthread_mutex_unlock(&n->lock);
#ifndef BUG
        pthread_mutex_destroy(&n->lock);
        free(n);
#endif
    }
    pthread_mutex_unlock(&p->lock);
    return present;
}

static bool contains(int key)
{
    struct node *p = find(key);
    bool present = is_next(p, key);
    pthread_mutex_unlock(&p->lock);
    return present;
}

static int look(int key)
{
    struct node *p = &head;
    while (p->next && p->next->key < key) p = p->next;
    return is_next(p, key);
}
