/* The lazy list (Heller et al. 2005; OptimisticListSortedSetWaitFreeContains of Synchrobench): a sorted list
 * with a mutex and a mark in each node. A node is marked before it is unlinked. So add and remove only look
 * at the two nodes that they have locked, and `contains` takes no lock. Nodes are never freed: another thread
 * may be walking over them. -DBUG: the mark of the first of the two nodes is not checked, so add can insert a
 * node behind a removed one.
 * EXPECT -DT0=a1 -DT1=r1 -DT2=a2 -DT3=c2 all verified
 * EXPECT -DBUG -DT0=a1 -DT1=r1 -DT2=a2 -DT3=c2 all error kind=assertion
 */
#include "set_client.h"

struct node {
    int key;
    atomic_bool marked;
    _Atomic(struct node *) next;
    pthread_mutex_t lock;
};

static struct node tail = {.key = KEYS, .lock = PTHREAD_MUTEX_INITIALIZER};
static struct node head = {.key = -1, .next = &tail, .lock = PTHREAD_MUTEX_INITIALIZER};

struct place {
    struct node *before, *at; /* before->key < key <= at->key */
};

static void setup(void) {}

static struct place find(int key)
{
    struct place p = {&head, head.next};
    while (p.at->key < key) p = (struct place){p.at, p.at->next};
    return p;
}

static bool is_valid(struct place p)
{
#ifndef BUG
    if (p.before->marked) return false;
#endif
    return !p.at->marked && p.before->next == p.at;
}

static void unlock(struct place p)
{
    pthread_mutex_unlock(&p.at->lock);
    pthread_mutex_unlock(&p.before->lock);
}

static struct place find_and_lock(int key)
{
    for (;;) {
        struct place p = find(key);
        pthread_mutex_lock(&p.before->lock);
        pthread_mutex_lock(&p.at->lock);
        if (is_valid(p)) return p;
        unlock(p);
    }
}

static bool add(int key)
{
    struct place p = find_and_lock(key);
    bool absent = p.at->key != key;
    if (absent) {
        struct node *n = malloc(sizeof *n);
        n->key = key;
        atomic_init(&n->marked, false);
        atomic_init(&n->next, p.at);
        pthread_mutex_init(&n->lock, NULL);
        p.before->next = n;
    }
    unlock(p);
    return absent;
}

static bool take(int key)
{
    struct place p = find_and_lock(key);
    bool present = p.at->key == key;
    if (present) {
        p.at->marked = true;
        p.before->next = atomic_load(&p.at->next);
    }
    unlock(p);
    return present;
}

static bool contains(int key)
{
    struct node *at = find(key).at;
    return at->key == key && !at->marked;
}

static int look(int key) { return contains(key); }
