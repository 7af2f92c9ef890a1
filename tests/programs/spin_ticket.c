/* A ticket lock. A thread whose turn has not come goes round its loop once and stops: a complete execution has no idle
 * round. So the number of executions is that of the orders in which three threads can take the lock twice each:
 * 6! / (2! 2! 2!) = 90. It is the same with every compiler and at every level of optimization: the slots that a compiler
 * leaves unset in frames, and old values in registers, are no part of a thread's local state (runtime/loops/local.c).
 * With -DCALLS each round calls a function with a frame of its own.
 * EXPECT every verified 90
 * EXPECT -DCALLS every verified 90
 * EXPECT -DBROKEN all error kind=data-race
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

static atomic_int next, now;
static int counter;

static __attribute__((noinline)) bool in_turn(int ticket, int spare)
{
    int current = atomic_load(&now), difference = ticket - current;
    if (difference > spare) {
        int again = difference - spare;
        return again == 0;
    }
    return difference == 0;
}

static void lock(void)
{
    int ticket = atomic_fetch_add(&next, 1);
#ifdef CALLS
    while (!in_turn(ticket, 100)) continue;
#else
    while (atomic_load(&now) != ticket) continue;
    (void)in_turn;
#endif
}

static void unlock(void) { atomic_fetch_add(&now, 1); }

static void *work(void *unused)
{
    for (int i = 0; i < 2; i++) {
        lock();
#ifdef BROKEN
        unlock();
#endif
        counter++;
#ifndef BROKEN
        unlock();
#endif
    }
    return unused;
}

int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    assert(counter == 6);
}
