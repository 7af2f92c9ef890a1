/* Everything that kills a program, in the thread that comes second.
 * EXPECT -DHOW=1 all error kind=crash
 * EXPECT -DHOW=2 all error kind=crash
 * EXPECT -DHOW=3 all error kind=crash
 * EXPECT -DHOW=4 all error kind=crash
 * EXPECT -DHOW=5 all error kind=crash
 * EXPECT -DHOW=6 all error kind=crash
 * EXPECT -DHOW=7 all error kind=crash
 * EXPECT -DHOW=0 every verified 2
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#ifndef HOW
#define HOW 0
#endif

static _Atomic int x;
static int *volatile nowhere;
static volatile int zero;

__attribute__((unused)) static int endless(int n)
{
    volatile char frame[1000];
    memset((char *)frame, n, sizeof frame);
    return n < 0 ? 0 : endless(n + 1) + frame[n % 1000];
}

static void fail(void)
{
#if HOW == 1 /* SIGSEGV, write to address 0 */
    *nowhere = 1;
#elif HOW == 2 /* SIGSEGV, read from a wild address */
    zero = *(int *)((char *)nowhere + 0x123456789000);
#elif HOW == 3 /* SIGFPE */
    zero = 100 / zero;
#elif HOW == 4
    abort();
#elif HOW == 5 /* SIGILL */
    __builtin_trap();
#elif HOW == 6 /* stack overflow */
    zero = endless(0);
#elif HOW == 7 /* a call of address 0 */
    ((void (*)(void))(void *)nowhere)();
#endif
}

static void *work(void *arg)
{
    if (atomic_fetch_add(&x, 1) == 1 && arg) fail();
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    int yes = 1;
    pthread_create(&a, NULL, work, &yes);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return nowhere != NULL || zero;
}
