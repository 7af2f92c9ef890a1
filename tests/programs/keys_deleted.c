/* Deleting a key against those who use it. Ordered by the join (or by a semaphore, the thread still having
 * a value) it is fine: the destructor runs, or does not. Not ordered it is an error, in whichever order it
 * happens here: with a thread that gets, sets, or ends with a value that has a destructor. Used after it was
 * deleted, twice deleted, never created: errors.
 * EXPECT -DUSE=pthread_setspecific(key,&key) -DRUNS=1 every verified 1
 * EXPECT -DUSE=pthread_setspecific(key,&key) -DBEFORE_END -DRUNS=0 every verified 1
 * EXPECT -DUSE=pthread_getspecific(key) -DEARLY all error kind=api-misuse
 * EXPECT -DUSE=pthread_setspecific(key,&key) -DEARLY all error kind=api-misuse
 * EXPECT -DUSE=pthread_getspecific(key) -DEARLY -DLATE_USE --keep-going optimal error errors=2
 * EXPECT -DUSE=pthread_setspecific(key,&key) -DWHILE_ENDING all error kind=api-misuse
 * EXPECT -DUSE=pthread_setspecific(key,&key) -DWHILE_ENDING -DNONE -DRUNS=0 every verified 1
 * EXPECT -DUSE=pthread_getspecific(key) -DWHILE_ENDING -DRUNS=0 every verified 1
 * EXPECT -DUSE=(void)0 -DAFTER=pthread_getspecific(key) all error kind=api-misuse
 * EXPECT -DUSE=(void)0 -DAFTER=pthread_setspecific(key,0) all error kind=api-misuse
 * EXPECT -DUSE=(void)0 -DAFTER=pthread_key_delete(key) all error kind=api-misuse
 * EXPECT -DUSE=(void)0 -DAFTER=pthread_getspecific(key+1) all error kind=api-misuse
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

static pthread_key_t key;
static sem_t set, deleted;
static atomic_int mine, yours;
static int runs;

static void at_end(void *value) { runs += value == &key; }

static void *work(void *arg)
{
#ifdef LATE_USE
    atomic_fetch_add_explicit(&yours, 1, memory_order_relaxed);
#endif
    USE;
    sem_post(&set);
#ifdef BEFORE_END
    sem_wait(&deleted);
#endif
#ifdef WHILE_ENDING
    atomic_fetch_add(&mine, 1);
#endif
    return arg;
}

int main(void)
{
    pthread_t t;
    void (*destructor)(void *) = at_end;
#ifdef NONE
    destructor = NULL;
#endif
    sem_init(&set, 0, 0);
    sem_init(&deleted, 0, 0);
    pthread_key_create(&key, destructor);
    pthread_create(&t, NULL, work, NULL);
#ifdef LATE_USE
    atomic_fetch_add_explicit(&yours, 1, memory_order_relaxed);
#endif
#if defined BEFORE_END || defined WHILE_ENDING
    sem_wait(&set);
    atomic_fetch_add(&yours, 1);
#elif !defined EARLY
    pthread_join(t, NULL);
#endif
    assert(!pthread_key_delete(key));
    sem_post(&deleted);
#if defined BEFORE_END || defined WHILE_ENDING || defined EARLY
    pthread_join(t, NULL);
#endif
#ifdef AFTER
    (void)AFTER;
#endif
#ifdef RUNS
    assert(runs == RUNS);
#endif
    return 0;
}
