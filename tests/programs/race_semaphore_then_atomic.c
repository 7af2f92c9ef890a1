/* Memory that held a semaphore holds an atomic variable later. Who stored to the variable first decides whether a
 * later store goes on with a release sequence or ends it; that is part of the state, though for a semaphore it
 * does not matter who posted.
 *
 * EXPECT all error kind=data-race
 * EXPECT -DRELEASE all verified
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#ifdef RELEASE
#define ORDER memory_order_release
#else
#define ORDER memory_order_relaxed
#endif

static union {
    sem_t semaphore;
    atomic_int number;
} u;
static atomic_int chosen;
static int x;

__attribute__((noinline)) static void first_stores(void)
{
    if (atomic_exchange_explicit(&chosen, 1, memory_order_relaxed)) return;
    atomic_store_explicit(&u.number, 1, memory_order_release);
}

static void *stores_again(void *unused)
{
    first_stores();
    if (atomic_load_explicit(&u.number, memory_order_relaxed) == 1)
        atomic_store_explicit(&u.number, 2, ORDER);
    return unused;
}

static void *stores(void *unused)
{
    first_stores();
    return unused;
}

static void *writes(void *unused)
{
    if (atomic_load_explicit(&u.number, memory_order_acquire) == 2) x++;
    return unused;
}

int main(void)
{
    pthread_t thread[3];
    sem_init(&u.semaphore, 0, 0);
    sem_post(&u.semaphore);
    sem_wait(&u.semaphore);
    sem_destroy(&u.semaphore);
    atomic_init(&u.number, 0);
    pthread_create(&thread[0], NULL, writes, NULL);
    x = 1;
    pthread_create(&thread[1], NULL, stores_again, NULL);
    pthread_create(&thread[2], NULL, stores, NULL);
    for (int i = 0; i < 3; i++) pthread_join(thread[i], NULL);
    return 0;
}
