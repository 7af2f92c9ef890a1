/* setjmp and longjmp within a thread, with visible operations in between. Three additions each: C(6,3).
 * EXPECT every verified 20
 */
#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>

static _Atomic int x;

static void *work(void *arg)
{
    jmp_buf here;
    volatile int n = 0;
    if (setjmp(here) < 3) {
        n++;
        atomic_fetch_add(&x, 1);
        longjmp(here, n);
    }
    assert(n == 3);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(x == 6);
    return 0;
}
