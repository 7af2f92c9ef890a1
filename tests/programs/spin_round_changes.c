/* A loop that waits, and changes something in every round that is not in its memory: it is not the same round
 * again. AT_EXIT: what has been registered three times fails. ROUNDING: the fourth rounding mode is not
 * expected.
 *
 * EXPECT -DAT_EXIT optimal error kind=assertion
 * EXPECT -DAT_EXIT none error kind=assertion
 * EXPECT -DROUNDING optimal error kind=assertion
 * EXPECT -DROUNDING stateful error kind=assertion
 * EXPECT -DNAME optimal error kind=assertion
 * EXPECT every verified
 * EXPECT -O1 every verified 1 compiler=gcc
 */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic int ready;
static const unsigned modes[5] = {0x1f80, 0x3f80, 0x5f80, 0x7f80, 0x1f80};
static int ended;

static void at_exit(void) { assert(++ended < 3); }

static __attribute__((noinline)) void change(void)
{
#if defined(AT_EXIT)
    atexit(at_exit);
#elif defined(ROUNDING)
    unsigned now;
    __asm__ volatile("stmxcsr %0" : "=m"(now));
    now = now >> 13 & 3;
    assert(now < 3);
    __asm__ volatile("ldmxcsr %0" : : "m"(modes[now + 1]));
#elif defined(NAME)
    char name[16];
    pthread_getname_np(pthread_self(), name, sizeof name);
    int n = name[0] == 't' ? 'a' : name[0] + 1;
    assert(n < 'd');
    name[0] = (char)n, name[1] = 0;
    pthread_setname_np(pthread_self(), name);
#endif
    (void)at_exit, (void)modes;
}

static __attribute__((noinline)) void wipe_stack(void)
{
    volatile char all[500];
    for (unsigned i = 0; i < sizeof all; i++) all[i] = 0;
}

static void *waits(void *arg)
{
    while (!atomic_load(&ready)) {
        change();
        wipe_stack();
    }
    return arg;
}

static void *sets(void *arg)
{
    atomic_store(&ready, 1);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, waits, NULL);
    pthread_create(&b, NULL, sets, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
