/* A set as a sorted list under one read-write lock (as RWLockCoarseGrainedListIntSet of Synchrobench).
 * -DBUG: add searches with the lock taken for reading, then takes it for writing without a second search.
 * EXPECT -DT1=a1 -DT2=c1 -DT3=c1 all verified 4
 * EXPECT -DT1=a1 -DT2=a1 -DT3=c1 all verified 6
 * EXPECT -DBUG -DT1=a1 -DT2=a1 -DT3=c1 all error kind=assertion
 */
#include "plain_list.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static bool add(int key)
{
#ifdef BUG
    pthread_rwlock_rdlock(&lock);
#else
    pthread_rwlock_wrlock(&lock);
#endif
    struct node *p = find(key);
    bool absent = !is_next(p, key);
#ifdef BUG
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_wrlock(&lock);
#endif
    if (absent) insert_behind(p, key);
    pthread_rwlock_unlock(&lock);
    return absent;
}

static bool take(int key)
{
    pthread_rwlock_wrlock(&lock);
    struct node *p = find(key);
    bool present = is_next(p, key);
    if (present) {
        struct node *n = p->next;
        p->next = n->next;
#ifndef BUG
        free(n);
#endif
    }
    pthread_rwlock_unlock(&lock);
    return present;
}

static bool contains(int key)
{
    pthread_rwlock_rdlock(&lock);
    bool present = is_next(find(key), key);
    pthread_rwlock_unlock(&lock);
    return present;
}
