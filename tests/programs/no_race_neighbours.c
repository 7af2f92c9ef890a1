/* Neighbouring bytes, halves and words are different locations: no race.
 * EXPECT every verified 1
 */
#include <assert.h>
#include <pthread.h>

static struct {
    char a, b;
    short c, d;
    int e, f;
    long g;
} s;

static void *odd(void *arg)
{
    s.a = 1, s.c = 3, s.e = 5, s.g = 7;
    return arg;
}

static void *even(void *arg)
{
    s.b = 2, s.d = 4, s.f = 6;
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, odd, NULL);
    pthread_create(&b, NULL, even, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(s.a + s.b + s.c + s.d + s.e + s.f + s.g == 28);
    return 0;
}
