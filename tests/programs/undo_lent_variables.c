/* Threads write to a variable that another one has lent them: on its stack, or a thread-local one. Going back
 * takes that back, also where the functions that the program calls do not let us know of every write
 * (CHECKPOINT: snprintf). Three threads add twice each, all in conflict: 6! / (2! 2! 2!) = 90 orders.
 *
 * EXPECT --backtrack=undo optimal verified 90
 * EXPECT --backtrack=checkpoint optimal verified 90
 * EXPECT --backtrack=rerun optimal verified 90
 * EXPECT -DCHECKPOINT sleep verified 90
 * EXPECT -DCHECKPOINT source verified 90
 * EXPECT -DTHREAD_LOCAL --backtrack=undo optimal verified 90
 * EXPECT -DTHREAD_LOCAL --backtrack=checkpoint optimal verified 90
 * EXPECT -DTHREAD_LOCAL -DCHECKPOINT sleep verified 90
 * EXPECT -DTHREAD_LOCAL --backtrack=undo sleep verified 90
 * EXPECT -DCHECKPOINT stateful verified
 * EXPECT -DTHREAD_LOCAL stateful verified
 * EXPECT -DTHREAD_LOCAL -DCHECKPOINT stateful verified
 * EXPECT -DBROKEN -DCHECKPOINT all error kind=assertion
 * EXPECT -DBROKEN -DTHREAD_LOCAL all error kind=assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#ifdef THREAD_LOCAL
static _Thread_local _Atomic int own;
#endif

static _Atomic int other;

static void *add(void *lent)
{
    _Atomic int *sum = lent;
    int first = atomic_fetch_add(sum, 1);
    atomic_load(&other); /* its owner runs without touching it */
    int second = atomic_fetch_add(sum, 1);
    assert(first < second && second < 6);
#ifdef BROKEN
    assert(first != 1 || second != 4);
#endif
    return NULL;
}

int main(void)
{
#ifndef THREAD_LOCAL
    _Atomic int own = 0;
#endif
#ifdef CHECKPOINT
    char text[8];
    snprintf(text, sizeof text, "%d", 1);
#endif
    pthread_t a, b;
    pthread_create(&a, NULL, add, &own);
    pthread_create(&b, NULL, add, &own);
    add(&own);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(own == 6);
    return 0;
}
