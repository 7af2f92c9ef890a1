/* A set as a sorted list with a mutex in each node: walk without locks, lock the two nodes, then walk again
 * to see whether they are still in the list, one behind the other. Nodes are never freed: another thread may
 * be walking over them. -DBUG: no second walk; it only checks that the first node still points to the second.
 * EXPECT -DT0=a1 -DT1=a2 -DT2=r1 -DT3=c2 all verified
 * EXPECT -DBUG -DT0=a1 -DT1=a2 -DT2=r1 -DT3=c2 all error kind=assertion
 */
#include "set_client.h"

struct node {
    int key;
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
#ifdef BUG
    return p.before->next == p.at;
#else
    struct place now = find(p.at->key);
    return now.before == p.before && now.at == p.at;
#endif
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
    if (present) p.before->next = atomic_load(&p.at->next);
    unlock(p);
    return present;
}

static bool contains(int key)
{
    struct place p = find_and_lock(key);
    bool present = p.at->key == key;
    unlock(p);
    return present;
}

static int look(int key) { return find(key).at->key == key; }
