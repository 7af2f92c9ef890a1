/* A hash map with chains, and one mutex for every second bucket. put does not replace the value of a key.
 * -DBUG: put searches in one critical section, and inserts in another one without a second search.
 * EXPECT -DT1=a1,r1 -DT2=a2,c2 -DT3=a3 all verified 3
 * EXPECT -DT1=a1,r1 -DT2=a1 all verified 3
 * EXPECT -DBUG -DT1=a1,r1 -DT2=a1 all error kind=assertion
 */
#define MAP
#include "set_client.h"

#define BUCKETS 4u
#define STRIPES 2u

struct entry {
    int key, value;
    struct entry *next;
};

static struct entry *buckets[BUCKETS];
static pthread_mutex_t locks[STRIPES];

static void setup(void)
{
    for (unsigned i = 0; i < STRIPES; i++) pthread_mutex_init(&locks[i], NULL);
}

static unsigned bucket_of(int key) { return (unsigned)key % BUCKETS; }
static pthread_mutex_t *lock_of(int key) { return &locks[bucket_of(key) % STRIPES]; }

/* Return the pointer to the entry, in place; it is NULL (the end of the chain) if there is no entry. */
static struct entry **find(int key)
{
    struct entry **p = &buckets[bucket_of(key)];
    while (*p && (*p)->key != key) p = &(*p)->next;
    return p;
}

static int put(int key, int value)
{
    pthread_mutex_lock(lock_of(key));
    struct entry **p = find(key);
    int absent = !*p;
#ifdef BUG
    pthread_mutex_unlock(lock_of(key));
    pthread_mutex_lock(lock_of(key));
    p = &buckets[bucket_of(key)];
#endif
    if (absent) {
        struct entry *e = malloc(sizeof *e);
        *e = (struct entry){key, value, *p};
        *p = e;
    }
    pthread_mutex_unlock(lock_of(key));
    return absent;
}

static int take(int key)
{
    int value = 0;
    pthread_mutex_lock(lock_of(key));
    struct entry **p = find(key), *e = *p;
    if (e) {
        value = e->value;
        *p = e->next;
        free(e);
    }
    pthread_mutex_unlock(lock_of(key));
    return value;
}

static int get(int key)
{
    pthread_mutex_lock(lock_of(key));
    struct entry *e = *find(key);
    int value = e ? e->value : 0;
    pthread_mutex_unlock(lock_of(key));
    return value;
}

static int look(int key)
{
    struct entry *e = *find(key);
    return e ? e->value : 0;
}
