/* What a section touches is not known before it has happened: it is in conflict with every atomic operation
 * of other threads, whatever the object, so each of the two loads of y comes before or after it: in one
 * thread, three classes; in two threads, four. Nothing else is in conflict with it: the two threads with a
 * mutex and a semaphore have two orders for each. A compare-exchange that fails counts as a write where there
 * are sections: it, a load and the section come in any order. Where there are none, the two are independent.
 *
 * EXPECT every verified 3
 * EXPECT -DTWO every verified 4
 * EXPECT -DLOCKS every verified 4
 * EXPECT -DCAS every verified 6
 * EXPECT -DCAS -DBARE every verified 1
 */
#include <mazurka.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

_Atomic int x, y; /* not static: clang removes loads of what nobody writes */
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static sem_t s;

static void *section(void *arg)
{
#ifndef BARE
    mz_atomic_begin();
    atomic_store(&x, 1);
    mz_atomic_end();
#endif
    return arg;
}

static void *loads(void *arg)
{
    atomic_load(&y);
#if !defined TWO && !defined CAS
    atomic_load(&y);
#endif
    return arg;
}

static void *compares(void *arg)
{
    int expected = 1;
    atomic_compare_exchange_strong(&y, &expected, 2);
    return arg;
}

static void *locks(void *arg)
{
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    sem_post(&s);
    return arg;
}

int main(void)
{
    pthread_t t[3];
    void *(*second)(void *) = loads, *(*third)(void *) = NULL;
    sem_init(&s, 0, 0);
#ifdef TWO
    third = loads;
#endif
#ifdef LOCKS
    second = third = locks;
#endif
#ifdef CAS
    third = compares;
#endif
    pthread_create(&t[0], NULL, section, NULL);
    pthread_create(&t[1], NULL, second, NULL);
    if (third) pthread_create(&t[2], NULL, third, NULL);
    for (int i = 0; i < (third ? 3 : 2); i++) pthread_join(t[i], NULL);
    (void)locks;
    (void)compares;
    return 0;
}
