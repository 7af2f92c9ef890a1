/* An atomic addition of every size, by two threads.
 * EXPECT -DT=char every verified 2
 * EXPECT -DT=short every verified 2
 * EXPECT -DT=int every verified 2
 * EXPECT -DT=long every verified 2
 * EXPECT -DT=uintptr_t optimal verified 2
 * EXPECT -DT=_Bool -DEXCHANGE every verified 2
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#ifndef T
#define T int
#endif

static struct {
    char guard1;
    _Atomic T x;
    char guard2;
} s = {42, 0, 43};

static void *add(void *arg)
{
#ifdef EXCHANGE
    atomic_exchange(&s.x, 1);
#else
    atomic_fetch_add(&s.x, 1);
#endif
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, add, NULL);
    pthread_create(&b, NULL, add, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
#ifdef EXCHANGE
    assert(atomic_load(&s.x) == 1);
#else
    assert(atomic_load(&s.x) == 2);
#endif
    assert(s.guard1 == 42 && s.guard2 == 43);
    return 0;
}
