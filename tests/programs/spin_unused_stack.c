/* Loops that wait, in functions that leave parts of their stack unused: what was left there by earlier
 * threads and executions must not decide when the loop is recognised, or the same schedule leads elsewhere.
 * EXPECT -O0 every verified
 * EXPECT -O0 -DPARTS=60 every verified
 * EXPECT -O0 -DPARTS=600 every verified
 * EXPECT -O2 every verified
 * EXPECT -O0 -DBROKEN all error kind=assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef PARTS
#define PARTS 6
#endif

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int count;

__attribute__((noinline)) static int look(int n)
{
    int unused[PARTS], value;
    if (n > 5) unused[0] = 1;
    value = count;
    if (n > 7) value += unused[n & 3];
    return value;
}

static void *waits(void *arg)
{
    int seen;
    do {
        pthread_mutex_lock(&m);
        seen = look((int)(long)arg);
        pthread_mutex_unlock(&m);
    } while (seen != 2);
#ifdef BROKEN
    assert(count == 1);
#endif
    return NULL;
}

static void *adds(void *arg)
{
    pthread_mutex_lock(&m);
    count++;
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void)
{
    pthread_t a, b, c;
    pthread_create(&a, NULL, waits, NULL);
    pthread_create(&b, NULL, adds, NULL);
    pthread_create(&c, NULL, adds, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    return 0;
}
