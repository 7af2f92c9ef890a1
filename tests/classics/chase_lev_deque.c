/* The deque of Chase and Lev: its owner pushes and takes at the bottom, thieves steal from the top. Only the
 * last element is fought for.
 * EXPECT all verified
 * EXPECT -DTHIEVES=2 optimal verified
 * EXPECT -DNO_CAS all error kind=assertion
 * EXPECT -DTHIEVES=2 -DLATE_BOTTOM all error kind=assertion
 */
#include "classic.h"

#ifndef THIEVES
#define THIEVES 1
#endif
#define SIZE  4
#define ITEMS 2

static _Atomic int top, bottom, items[SIZE];
static _Atomic int taken[ITEMS + 1];

static void took(int item)
{
    if (!item) return;
    int before = taken[item]++;
    assert(before == 0);
}

static void push(int item)
{
    int b = bottom;
    items[b % SIZE] = item;
    bottom = b + 1;
}

static int take(void)
{
    int b = bottom - 1, item;
#ifdef LATE_BOTTOM
    int t = top;
    bottom = b;
#else
    bottom = b;
    int t = top;
#endif
    if (t > b) {
        bottom = b + 1;
        return 0;
    }
    item = items[b % SIZE];
    if (t < b) return item;
#ifndef NO_CAS
    if (!atomic_compare_exchange_strong(&top, &t, t + 1)) item = 0;
    bottom = b + 1;
#endif
    return item;
}

static int steal(void)
{
    int t = top, b = bottom;
    if (t >= b) return 0;
    int item = items[t % SIZE];
    return atomic_compare_exchange_strong(&top, &t, t + 1) ? item : 0;
}

static void *thief(void *unused)
{
    took(steal());
    return unused;
}

int main(void)
{
    pthread_t t[THIEVES];
    push(1);
    push(2);
    for (int i = 0; i < THIEVES; i++) pthread_create(&t[i], NULL, thief, NULL);
    took(take());
    took(take());
    for (int i = 0; i < THIEVES; i++) pthread_join(t[i], NULL);
    took(take());
    assert(taken[1] == 1 && taken[2] == 1);
    return 0;
}
