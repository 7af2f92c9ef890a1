/* What must not be done with a spin lock. Who locks twice waits for ever.
 * EXPECT -DTWICE all error kind=deadlock thread=0
 * EXPECT -DNOT_LOCKED optimal error kind=api-misuse line=28
 * EXPECT -DOTHERS optimal error kind=api-misuse line=17
 * EXPECT -DDESTROY_HELD optimal error kind=api-misuse line=31
 * EXPECT -DDESTROYED optimal error kind=api-misuse line=34
 * EXPECT -DNEW optimal error kind=api-misuse line=37
 */
#include <pthread.h>
#include <stdlib.h>

static pthread_spinlock_t lock;

static void *work(void *arg)
{
#ifdef OTHERS
    pthread_spin_unlock(&lock);
#endif
    return arg;
}

static void misuse(void)
{
#ifdef TWICE
    pthread_spin_lock(&lock);
    pthread_spin_lock(&lock);
#elif defined NOT_LOCKED
    pthread_spin_unlock(&lock);
#elif defined DESTROY_HELD
    pthread_spin_lock(&lock);
    pthread_spin_destroy(&lock);
#elif defined DESTROYED
    pthread_spin_destroy(&lock);
    pthread_spin_lock(&lock);
#elif defined NEW
    pthread_spinlock_t *n = malloc(sizeof *n);
    pthread_spin_lock(n);
#endif
}

int main(void)
{
    pthread_t a;
    pthread_spin_init(&lock, 0);
#ifdef OTHERS
    pthread_spin_lock(&lock);
#endif
    pthread_create(&a, NULL, work, NULL);
    pthread_join(a, NULL);
    misuse();
    return 0;
}
