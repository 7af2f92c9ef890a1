/* Litmus tests of weak memory. Atomics are run sequentially consistent, so none of these fails; but where the
 * memory orders would allow another outcome, that is said beside the verdict, and --strict makes it
 * incomplete. Where they do not, nothing is said.
 * OPTIONS --strict
 * Store buffering: a store and a load of another object.
 * EXPECT -DSB -DS1=release -DL1=acquire all incomplete says=weak
 * EXPECT -DSB -DS1=relaxed -DL1=relaxed all incomplete
 * EXPECT -DSB -DS1=seq_cst -DL1=acquire all incomplete
 * EXPECT -DSB -DS1=release -DL1=seq_cst all incomplete
 * EXPECT -DSB -DS1=seq_cst -DL1=seq_cst all verified
 * EXPECT -DSB -DS1=relaxed -DL1=relaxed -DF1=seq_cst all verified
 * EXPECT -DSB -DS1=relaxed -DL1=relaxed -DF1=acq_rel all incomplete
 * EXPECT -DSB -DRMW -DS1=acq_rel -DL1=acquire all incomplete
 * Message passing: two stores against two loads.
 * EXPECT -DMP -DS2=release -DL1=acquire every verified
 * EXPECT -DMP -DS2=relaxed -DL1=acquire every incomplete
 * EXPECT -DMP -DS2=release -DL1=relaxed every incomplete
 * EXPECT -DMP -DS2=relaxed -DL1=relaxed -DF1=release -DF2=acquire every verified
 * EXPECT -DMP -DS2=relaxed -DL1=relaxed -DF1=acquire -DF2=acquire every incomplete
 * EXPECT -DMP -DS2=relaxed -DL1=relaxed -DF1=release -DF2=release every incomplete
 * Load buffering: two loads and two stores.
 * EXPECT -DLB -DL1=relaxed -DS2=relaxed all incomplete
 * EXPECT -DLB -DL1=acquire -DS2=relaxed all verified
 * EXPECT -DLB -DL1=relaxed -DS2=release all verified
 * EXPECT -DLB -DL1=relaxed -DS2=relaxed -DF1=acquire all verified
 * Stores only.
 * EXPECT -DSS -DS2=relaxed all incomplete
 * EXPECT -DSS -DS2=release all verified
 * What is ordered anyway: by a mutex, by creation and join, by being one object.
 * EXPECT -DMUTEX all verified
 * EXPECT -DBEFORE_AND_AFTER all verified
 * EXPECT -DONE_OBJECT all verified
 * Three threads, each with one store and one load of the next object.
 * EXPECT -DTHREE -DS1=release -DL1=acquire all incomplete
 * EXPECT -DTHREE -DS1=seq_cst -DL1=seq_cst all verified
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef S1
#define S1 relaxed
#endif
#ifndef S2
#define S2 relaxed
#endif
#ifndef L1
#define L1 relaxed
#endif
#define ORDER_(o)  memory_order_##o
#define ORDER(o)   ORDER_(o)
#define LOAD(x, o) atomic_load_explicit(&x, ORDER(o))
#ifdef RMW
#define STORE(x, o) atomic_exchange_explicit(&x, 1, ORDER(o))
#else
#define STORE(x, o) atomic_store_explicit(&x, 1, ORDER(o))
#endif
#ifdef F1
#define FENCE1 atomic_thread_fence(ORDER(F1))
#else
#define FENCE1 (void)0
#endif
#ifdef F2
#define FENCE2 atomic_thread_fence(ORDER(F2))
#else
#define FENCE2 (void)0
#endif

static atomic_int x, y, z;
static int r1, r2;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *first(void *a)
{
#if defined(SB) || defined(THREE)
    STORE(x, S1);
    FENCE1;
    r1 = LOAD(y, L1);
#elif defined(MP)
    STORE(x, relaxed);
    FENCE1;
    STORE(y, S2);
#elif defined(LB)
    r1 = LOAD(x, L1);
    FENCE1;
    STORE(y, S2);
#elif defined(SS)
    STORE(x, relaxed);
    STORE(y, S2);
#elif defined(MUTEX)
    pthread_mutex_lock(&m);
    STORE(x, relaxed);
    r1 = LOAD(y, relaxed);
    pthread_mutex_unlock(&m);
#elif defined(BEFORE_AND_AFTER)
    STORE(x, relaxed);
#elif defined(ONE_OBJECT)
    STORE(x, relaxed);
    r1 = LOAD(x, relaxed);
#endif
    return a;
}

static void *second(void *a)
{
#if defined(SB)
    STORE(y, S1);
    FENCE1;
    r2 = LOAD(x, L1);
#elif defined(THREE)
    STORE(y, S1);
    r2 = LOAD(z, L1);
#elif defined(MP)
    r1 = LOAD(y, L1);
    FENCE2;
    r2 = LOAD(x, relaxed);
#elif defined(LB)
    r2 = LOAD(y, L1);
    FENCE1;
    STORE(x, S2);
#elif defined(SS)
    STORE(y, relaxed);
    STORE(x, S2);
#elif defined(MUTEX)
    pthread_mutex_lock(&m);
    STORE(y, relaxed);
    r2 = LOAD(x, relaxed);
    pthread_mutex_unlock(&m);
#elif defined(BEFORE_AND_AFTER)
    STORE(y, relaxed);
#elif defined(ONE_OBJECT)
    STORE(x, relaxed);
    r2 = LOAD(x, relaxed);
#endif
    return a;
}

#ifdef THREE
static void *third(void *a)
{
    int r;
    STORE(z, S1);
    r = LOAD(x, L1);
    (void)r;
    return a;
}
#endif

int main(void)
{
    pthread_t t, u;
    STORE(z, relaxed);
    r1 = LOAD(x, relaxed);
    pthread_create(&t, NULL, first, NULL);
    pthread_create(&u, NULL, second, NULL);
#ifdef THREE
    pthread_t v;
    pthread_create(&v, NULL, third, NULL);
    pthread_join(v, NULL);
#endif
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    r1 = LOAD(x, relaxed);
    r2 = LOAD(y, relaxed);
    return 0;
}
