/* Accesses that are operations and touch bytes that are not visible yet: the other half of a long word, a
 * variable that only one side accesses as volatile, the rest of a structure. Both values must be seen.
 * OPTIONS --data-races=allow
 * EXPECT -DVALUE=0 all error kind=assertion
 * EXPECT -DVALUE=1 all error kind=assertion
 * EXPECT -DVALUE=2 every verified
 * EXPECT -DONCE -DVALUE=0 all error kind=assertion
 * EXPECT -DONCE -DVALUE=1 all error kind=assertion
 * EXPECT -DONCE -DVALUE=2 every verified
 * EXPECT -DLONG -DVALUE=0 all error kind=assertion
 * EXPECT -DLONG -DVALUE=1 all error kind=assertion
 * EXPECT -DLONG -DVALUE=2 every verified
 */
#include <assert.h>
#include <pthread.h>

static union {
    long long both;
    struct {
        int a, b;
    } half;
    struct {
        int n[10];
    } many;
} x;
static int seen_a, seen_b;

static void *writes(void *arg)
{
#if defined ONCE
    *(volatile int *)&x.half.b = 1;
#elif defined LONG
    static const int one[10] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    x.many = *(const __typeof__(x.many) *)(const void *)one;
#else
    x.both = 0x100000001;
#endif
    return arg;
}

static void *reads_a(void *arg)
{
    seen_a = x.half.a;
    return arg;
}

static void *reads_b(void *arg)
{
    seen_b = x.half.b;
    return arg;
}

int main(void)
{
    pthread_t a, b, c;
    pthread_create(&a, NULL, writes, NULL);
    pthread_create(&b, NULL, reads_a, NULL);
    pthread_create(&c, NULL, reads_b, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    assert(seen_a < 2);
    assert(seen_b != VALUE);
    return 0;
}
