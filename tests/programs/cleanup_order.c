/* Cleanup handlers run from the innermost to the outermost, by pthread_exit and by cancellation, also
 * those of callers, before the destructors of thread-specific data; popped ones do not run, or at once.
 * EXPECT every verified 2
 * EXPECT -DCANCEL every verified 2
 * EXPECT -DWRONG_ORDER all error kind=assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static _Atomic int x;
static _Thread_local int log_, digits;
static int logs[2];
static pthread_key_t key;

static void note(void *arg)
{
    log_ = log_ * 10 + (int)(intptr_t)arg;
    digits++;
}

static void last(void *arg)
{
    note((void *)9);
    *(int *)arg = log_;
}

static void inner(void)
{
    pthread_cleanup_push(note, (void *)4);
    pthread_cleanup_push(note, (void *)5);
    pthread_cleanup_pop(1);
    pthread_cleanup_push(note, (void *)6);
    pthread_cleanup_pop(0);
    atomic_fetch_add(&x, 1);
#ifdef CANCEL
    pthread_cancel(pthread_self());
    pthread_testcancel();
#else
    pthread_exit((void *)1);
#endif
    pthread_cleanup_pop(0);
}

static void *work(void *arg)
{
    pthread_setspecific(key, arg);
    pthread_cleanup_push(note, (void *)1);
    pthread_cleanup_push(note, (void *)2);
    inner();
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    void *result;
    pthread_key_create(&key, last);
    pthread_create(&a, NULL, work, &logs[0]);
    pthread_create(&b, NULL, work, &logs[1]);
    pthread_join(a, &result);
    pthread_join(b, NULL);
#ifdef CANCEL
    assert(result == PTHREAD_CANCELED);
#else
    assert(result == (void *)1);
#endif
#ifdef WRONG_ORDER
    assert(logs[0] == 51249);
#endif
    assert(logs[0] == 54219 && logs[1] == 54219);
    return 0;
}
