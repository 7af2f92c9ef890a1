/* A set as a sorted list under one mutex.
 * -DBUG: remove finds the node in one critical section and unlinks it in another one. A change that another
 * thread makes between the two, behind the same node, is lost.
 * EXPECT -DT1=a1,r2 -DT2=a2,c1 -DT3=r1 all verified 30
 * EXPECT -DT0=a1 -DT1=r1 -DT2=a2 all verified 2
 * EXPECT -DBUG -DT0=a1 -DT1=r1 -DT2=a2 all error kind=assertion
 */
#include "plain_list.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool add(int key)
{
    pthread_mutex_lock(&lock);
    struct node *p = find(key);
    bool absent = !is_next(p, key);
    if (absent) insert_behind(p, key);
    pthread_mutex_unlock(&lock);
    return absent;
}

#ifndef BUG
static bool take(int key)
{
    pthread_mutex_lock(&lock);
    struct node *p = find(key);
    bool present = is_next(p, key);
    if (present) {
        struct node *n = p->next;
        p->next = n->next;
        free(n);
    }
    pthread_mutex_unlock(&lock);
    return present;
}
#else
static bool take(int key)
{
    pthread_mutex_lock(&lock);
    struct node *p = find(key);
    bool present = is_next(p, key);
    struct node *after = present ? p->next->next : NULL;
    pthread_mutex_unlock(&lock);
    if (present) {
        pthread_mutex_lock(&lock);
        p->next = after;
        pthread_mutex_unlock(&lock);
    }
    return present;
}
#endif

static bool contains(int key)
{
    pthread_mutex_lock(&lock);
    bool present = is_next(find(key), key);
    pthread_mutex_unlock(&lock);
    return present;
}
