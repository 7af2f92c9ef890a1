/* A key is used by one thread and deleted by another. Who had the mutex first decides whether both are ordered, and
 * nothing in memory tells: the past belongs to the state, as it does for data races.
 *
 * EXPECT all error kind=api-misuse line=37
 * EXPECT -DORDERED all verified
 * EXPECT -DVALUE all error kind=api-misuse
 * EXPECT -DVALUE -DORDERED all verified
 */
#include <pthread.h>
#include <stdatomic.h>

static pthread_key_t key;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int ready, done;

#ifdef ORDERED
#define STORE memory_order_release
#define LOAD  memory_order_acquire
#else
#define STORE memory_order_relaxed
#define LOAD  memory_order_relaxed
#endif

static void pass(void)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
}

static void nothing(void *value) { (void)value; }

#ifndef VALUE
static void *removes(void *unused)
{
    pass();
    if (!atomic_load_explicit(&done, LOAD)) return unused;
    pthread_key_delete(key);
    return unused;
}

static void *uses(void *unused)
{
    (void)pthread_getspecific(key);
    pass();
    atomic_store_explicit(&done, 1, STORE);
    return unused;
}
#else
static void *removes(void *unused)
{
    while (!atomic_load(&ready)) {
    }
    pthread_key_delete(key);
    pass();
    atomic_store_explicit(&done, 1, STORE);
    return unused;
}

static void *uses(void *unused) /* its destructor does not run, because of the deletion */
{
    pthread_setspecific(key, &key);
    atomic_store(&ready, 1);
    pass();
    while (!atomic_load_explicit(&done, LOAD)) {
    }
    return unused;
}
#endif

int main(void)
{
    pthread_t thread[2];
    pthread_key_create(&key, nothing);
#ifdef VALUE
    pthread_create(&thread[0], NULL, removes, NULL);
    pthread_create(&thread[1], NULL, uses, NULL);
#else
    pthread_create(&thread[0], NULL, uses, NULL);
    pthread_create(&thread[1], NULL, removes, NULL);
#endif
    for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
    return 0;
}
