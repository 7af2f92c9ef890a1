/* Neighbouring bit-fields are one memory location in C11; separated by a field of width 0, or in neighbouring
 * bytes, they are two.
 * EXPECT all error kind=data-race
 * EXPECT -DSEPARATE all verified 1
 */
#include <assert.h>
#include <pthread.h>

static struct {
    unsigned char a : 4;
#ifdef SEPARATE
    unsigned char : 0;
#endif
    unsigned char b : 4;
} s;

static void *set_a(void *arg)
{
    s.a = 5;
    return arg;
}

static void *set_b(void *arg)
{
    s.b = 6;
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, set_a, NULL);
    pthread_create(&b, NULL, set_b, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(s.a == 5 && s.b == 6);
    return 0;
}
