/* Four threads, one fetch_add each, result not used: 4! classes. (Their order cannot be told from the
 * outcome; an algorithm that knows that additions commute would need one.)
 *
 * EXPECT every verified 24
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int x;

static void *add(void *arg)
{
    atomic_fetch_add(&x, 1);
    return arg;
}

int main(void)
{
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, add, NULL);
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    assert(atomic_load(&x) == 4);
    return 0;
}
