/* Conditions with arguments: each await reads only the variables that the condition has read with this argument. Every pair of
 * threads has a flag of its own, so nothing is in conflict: 1 class. With ONE, all wait for the same flag: N waiters commute,
 * 1 class. With TWICE, a thread waits for its two flags in turn, and another thread waits for the sum: the two stores are in
 * conflict with nothing but their waiters, 1 class.
 * EXPECT every verified 1
 * EXPECT -DONE every verified 1
 * EXPECT -DTWICE every verified 1
 */
#include <mazurka.h>
#include <pthread.h>
#include <stdatomic.h>

#define N 3

static atomic_int flags[N];

static int is_set(void *flag) { return atomic_load((atomic_int *)flag); }

static int both_are_set(void *unused)
{
    (void)unused;
    return atomic_load(&flags[0]) + atomic_load(&flags[1]) == 2;
}

static void *set(void *flag)
{
    atomic_store((atomic_int *)flag, 1);
    return NULL;
}

static void *wait_for(void *flag)
{
    mz_await(is_set, flag);
#ifdef TWICE
    mz_await(is_set, &flags[1]);
    mz_await(both_are_set, NULL);
#else
    (void)both_are_set;
#endif
    return NULL;
}

int main(void)
{
    pthread_t setters[N], waiters[N];
    for (int i = 0; i < N; i++) {
#ifdef ONE
        void *flag = &flags[0];
        if (i == 0) pthread_create(&setters[i], NULL, set, flag);
#else
        void *flag = &flags[i];
        pthread_create(&setters[i], NULL, set, flag);
#endif
        pthread_create(&waiters[i], NULL, wait_for, flag);
    }
    for (int i = 0; i < N; i++) {
#ifdef ONE
        if (i == 0)
#endif
            pthread_join(setters[i], NULL);
        pthread_join(waiters[i], NULL);
    }
}
