/* At the end of the program run, within the execution: handlers in reverse order, those of constructors last,
 * then destructor functions. Also when main has ended by pthread_exit: then at the end of the last thread.
 * EXPECT every verified 2
 * EXPECT -DBROKEN all error kind=assertion
 * EXPECT -DMAIN_ENDS every verified 2
 * EXPECT -DMAIN_ENDS -DBROKEN all error kind=assertion
 */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic int x;
static int calls;

static void third(void) { assert(calls++ == 2); }
static void second(void) { assert(calls++ == 1); }
static void first(int status, void *arg) { assert(calls++ == 0 && status == 0 && arg == &calls); }

__attribute__((constructor)) static void begin(void) { atexit(third); }
__attribute__((destructor)) static void end(void)
{
    assert(calls++ == 3);
#ifdef BROKEN
    assert(atomic_load(&x) != 2);
#endif
}

static void *work(void *arg)
{
    atomic_fetch_add(&x, 1);
    return arg;
}

int main(void)
{
    pthread_t a;
    atexit(second);
    on_exit(first, &calls);
    pthread_create(&a, NULL, work, NULL);
    atomic_fetch_add(&x, 1);
#ifdef MAIN_ENDS
    pthread_exit(NULL);
#else
    pthread_join(a, NULL);
#endif
    return 0;
}
