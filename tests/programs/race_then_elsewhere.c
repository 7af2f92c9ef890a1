/* A data race decides which operation a thread does next. With --keep-going the search goes on after the race, and comes to a
 * schedule that leads to another operation than before: the race is reported, and no nondeterminism.
 * EXPECT --keep-going optimal error kind=data-race
 * EXPECT --keep-going source error kind=data-race
 * EXPECT optimal error kind=data-race
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static _Atomic int x;
static int plain;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *look(void *arg)
{
    pthread_mutex_lock(&m);
    int seen = plain;
    pthread_mutex_unlock(&m);
    if (seen) atomic_fetch_add(&x, 2);
    return arg;
}

int main(void)
{
    pthread_t t;
    int expected = 2;
    pthread_create(&t, NULL, look, NULL);
    atomic_compare_exchange_strong(&x, &expected, 3);
    plain = 1;
    pthread_join(t, NULL);
    return 0;
}
