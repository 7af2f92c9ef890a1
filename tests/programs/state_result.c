/* The result of a thread belongs to the state, from when the thread has it until another thread has taken it:
 * while key destructors, cleanup handlers and destructors of thread-local objects run, and between the end of
 * the thread and the return of pthread_join, in which there is an operation if the program can cancel threads.
 * EXPECT optimal error kind=assertion
 * EXPECT stateful error kind=assertion
 * EXPECT s-por error kind=assertion
 * EXPECT de-s-por error kind=assertion
 * EXPECT dl-s-por error kind=assertion
 * EXPECT sdpor error kind=assertion
 * EXPECT --state-match=exact stateful error kind=assertion
 * EXPECT --state-capture=delta stateful error kind=assertion
 * EXPECT --backtrack=checkpoint stateful error kind=assertion
 * EXPECT -DVALUE=1 optimal error kind=assertion
 * EXPECT -DVALUE=1 stateful error kind=assertion
 * EXPECT -DVALUE=1 s-por error kind=assertion
 * EXPECT -DVALUE=1 de-s-por error kind=assertion
 * EXPECT -DVALUE=1 dl-s-por error kind=assertion
 * EXPECT -DVALUE=1 sdpor error kind=assertion
 * EXPECT -DVALUE=1 --state-match=exact stateful error kind=assertion
 * EXPECT -DVALUE=1 --state-capture=delta stateful error kind=assertion
 * EXPECT -DVALUE=1 --backtrack=checkpoint stateful error kind=assertion
 * EXPECT -DRIGHT optimal verified
 * EXPECT -DRIGHT stateful verified
 * EXPECT -DRIGHT s-por verified
 * EXPECT -DRIGHT de-s-por verified
 * EXPECT -DRIGHT dl-s-por verified
 * EXPECT -DRIGHT sdpor verified
 * EXPECT -DKEY optimal error kind=assertion
 * EXPECT -DKEY stateful error kind=assertion
 * EXPECT -DKEY s-por error kind=assertion
 * EXPECT -DKEY de-s-por error kind=assertion
 * EXPECT -DKEY dl-s-por error kind=assertion
 * EXPECT -DKEY sdpor error kind=assertion
 * EXPECT -DKEY --state-match=exact stateful error kind=assertion
 * EXPECT -DKEY --state-capture=delta stateful error kind=assertion
 * EXPECT -DKEY --backtrack=checkpoint stateful error kind=assertion
 * EXPECT -DKEY -DVALUE=1 optimal error kind=assertion
 * EXPECT -DKEY -DVALUE=1 stateful error kind=assertion
 * EXPECT -DKEY -DVALUE=1 s-por error kind=assertion
 * EXPECT -DKEY -DVALUE=1 de-s-por error kind=assertion
 * EXPECT -DKEY -DVALUE=1 dl-s-por error kind=assertion
 * EXPECT -DKEY -DVALUE=1 sdpor error kind=assertion
 * EXPECT -DKEY -DVALUE=1 --state-match=exact stateful error kind=assertion
 * EXPECT -DKEY -DVALUE=1 --state-capture=delta stateful error kind=assertion
 * EXPECT -DKEY -DVALUE=1 --backtrack=checkpoint stateful error kind=assertion
 * EXPECT -DKEY -DRIGHT optimal verified
 * EXPECT -DKEY -DRIGHT stateful verified
 * EXPECT -DKEY -DRIGHT s-por verified
 * EXPECT -DKEY -DRIGHT de-s-por verified
 * EXPECT -DKEY -DRIGHT dl-s-por verified
 * EXPECT -DKEY -DRIGHT sdpor verified
 * EXPECT -DCLEANUP optimal error kind=assertion
 * EXPECT -DCLEANUP stateful error kind=assertion
 * EXPECT -DCLEANUP s-por error kind=assertion
 * EXPECT -DCLEANUP de-s-por error kind=assertion
 * EXPECT -DCLEANUP dl-s-por error kind=assertion
 * EXPECT -DCLEANUP sdpor error kind=assertion
 * EXPECT -DCLEANUP --state-match=exact stateful error kind=assertion
 * EXPECT -DCLEANUP --state-capture=delta stateful error kind=assertion
 * EXPECT -DCLEANUP --backtrack=checkpoint stateful error kind=assertion
 * EXPECT -DCLEANUP -DVALUE=1 optimal error kind=assertion
 * EXPECT -DCLEANUP -DVALUE=1 stateful error kind=assertion
 * EXPECT -DCLEANUP -DVALUE=1 s-por error kind=assertion
 * EXPECT -DCLEANUP -DVALUE=1 de-s-por error kind=assertion
 * EXPECT -DCLEANUP -DVALUE=1 dl-s-por error kind=assertion
 * EXPECT -DCLEANUP -DVALUE=1 sdpor error kind=assertion
 * EXPECT -DCLEANUP -DVALUE=1 --state-match=exact stateful error kind=assertion
 * EXPECT -DCLEANUP -DVALUE=1 --state-capture=delta stateful error kind=assertion
 * EXPECT -DCLEANUP -DVALUE=1 --backtrack=checkpoint stateful error kind=assertion
 * EXPECT -DCLEANUP -DRIGHT optimal verified
 * EXPECT -DCLEANUP -DRIGHT stateful verified
 * EXPECT -DCLEANUP -DRIGHT s-por verified
 * EXPECT -DCLEANUP -DRIGHT de-s-por verified
 * EXPECT -DCLEANUP -DRIGHT dl-s-por verified
 * EXPECT -DCLEANUP -DRIGHT sdpor verified
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#ifndef VALUE
#define VALUE 0 /* the result that fails: which of both is missed depends on the order of the search */
#endif

static atomic_int flag, other;

static void visible(void *unused)
{
    (void)unused;
    atomic_fetch_add(&other, 1);
}

#if defined KEY
static pthread_key_t key;

static void *work(void *unused)
{
    (void)unused;
    pthread_setspecific(key, &flag);
    return (void *)(intptr_t)atomic_load(&flag);
}
#elif defined CLEANUP
static void *work(void *unused)
{
    (void)unused;
    pthread_cleanup_push(visible, NULL);
    pthread_exit((void *)(intptr_t)atomic_load(&flag));
    pthread_cleanup_pop(0);
    return NULL;
}
#else
static void *work(void *unused)
{
    (void)unused;
    return (void *)(intptr_t)atomic_load(&flag);
}

void never(pthread_t thread) { pthread_cancel(thread); } /* its name in the program is enough */
#endif

static void *set(void *unused)
{
    (void)unused;
    atomic_store(&flag, 1);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    void *result;
#if defined KEY
    pthread_key_create(&key, visible);
#endif
    pthread_create(&a, NULL, set, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL); /* from here on only the result tells what was loaded */
    pthread_join(b, &result);
    visible(NULL);
#if defined RIGHT
    assert(result == NULL || result == (void *)1);
#else
    assert(result != (void *)VALUE);
#endif
    return 0;
}
