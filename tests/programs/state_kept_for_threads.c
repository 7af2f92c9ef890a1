/* What a thread did left no trace in memory, on stacks or in registers, only in what is kept for the program
 * elsewhere: it belongs to the state all the same. The one that comes first decides; then all is the same but
 * for that, and in the order that the search tries last it matters.
 *
 * EXPECT -DDESTRUCTOR sleep error 2 kind=assertion
 * EXPECT -DDESTRUCTOR stateful error kind=assertion
 * EXPECT -DDESTRUCTOR s-por error kind=assertion
 * EXPECT -DDELETED dl-s-por error kind=api-misuse
 * EXPECT -DNAME stateful error kind=assertion
 * EXPECT -DNAME sdpor error kind=assertion
 * EXPECT -DROUNDING sleep error 2 kind=assertion
 * EXPECT -DROUNDING stateful error kind=assertion
 * EXPECT -DREAD_TWICE sleep error 2 kind=assertion
 * EXPECT -DREAD_TWICE stateful error kind=assertion
 * EXPECT -DAT_EXIT stateful error kind=assertion
 * EXPECT -DAT_EXIT de-s-por error kind=assertion
 * EXPECT stateful verified
 */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static _Atomic int order, y;
static pthread_key_t key;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_t main_thread;
static const unsigned down = 0x3f80; /* rounding of SSE */

static void good(void *p) { (void)p; }
static void bad(void *p) { assert(!p); }
static void at_exit_good(void) {}
static void at_exit_bad(void) { assert(0); }

static __attribute__((noinline)) void decide(void)
{
    int late = atomic_fetch_add(&order, 1) != 0;
#if defined(DESTRUCTOR)
    pthread_key_create(&key, late ? bad : good);
#elif defined(DELETED)
    if (late) pthread_key_delete(key);
#elif defined(NAME)
    pthread_setname_np(main_thread, late ? "bad" : "good");
#elif defined(ROUNDING)
    if (late) __asm__ volatile("ldmxcsr %0" : : "m"(down));
#elif defined(READ_TWICE)
    if (late) pthread_rwlock_rdlock(&lock);
    pthread_rwlock_rdlock(&lock);
#elif defined(AT_EXIT)
    atexit(late ? at_exit_bad : at_exit_good);
#endif
    (void)late, (void)good, (void)bad, (void)at_exit_good, (void)at_exit_bad, (void)down, (void)main_thread;
}

static __attribute__((noinline)) void wipe_stack(void)
{
    volatile char all[4000];
    for (unsigned i = 0; i < sizeof all; i++) all[i] = 0;
}

static void *first(void *arg)
{
    decide();
    wipe_stack();
    atomic_fetch_add(&y, 1);
#ifdef ROUNDING
    unsigned now;
    __asm__ volatile("stmxcsr %0" : "=m"(now));
    assert(!(now & 0x6000));
#endif
#ifdef READ_TWICE
    pthread_rwlock_unlock(&lock);
    assert(pthread_rwlock_trywrlock(&lock) == 0);
    pthread_rwlock_unlock(&lock);
#endif
    return arg;
}

static void *second(void *arg)
{
    atomic_fetch_add(&order, 1);
    return arg;
}

static void *third(void *arg)
{
#ifdef DESTRUCTOR
    pthread_setspecific(key, &order);
#endif
    return arg;
}

int main(void)
{
    pthread_t a, b;
    main_thread = pthread_self();
#ifdef DELETED
    pthread_key_create(&key, NULL);
#endif
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    atomic_load(&y);
#ifdef DELETED
    pthread_setspecific(key, NULL);
#endif
#ifdef NAME
    char name[16];
    pthread_getname_np(main_thread, name, sizeof name);
    assert(strcmp(name, "bad"));
#endif
    pthread_create(&a, NULL, third, NULL);
    pthread_join(a, NULL);
    (void)lock, (void)key;
    return 0;
}
