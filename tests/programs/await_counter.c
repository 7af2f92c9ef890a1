/* Waiting for a condition over an atomic counter (2017, Fig. 9 with additions that do not commute: each pair is in
 * conflict, as in the papers). p and q take one away, r adds one, s waits until x > 0.
 * s waits for ever if p or q comes before r: then x never becomes positive. The orders of p, q and r alone: 6 classes with
 * s blocked, of which those where r is first also have s enabled after r: r s p q and r s q p.
 * So there are 6 + 2 classes. Six of them are deadlocks.
 * EXPECT all error kind=deadlock
 * EXPECT -DDONE every verified 8
 */
#include <mazurka.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, done;

#ifdef DONE /* no deadlock: s also goes on when all is over */
#define OVER 3
#else
#define OVER 4
#endif

static int positive(void *unused)
{
    (void)unused;
    return atomic_load(&x) > 0;
}

static void *add(void *amount)
{
    atomic_fetch_add(&x, amount ? 1 : -1);
    return NULL;
}

static void *waits(void *unused)
{
    (void)unused;
    mz_await(positive, NULL);
    return NULL;
}

int main(void)
{
    pthread_t p, q, r, s;
    pthread_create(&p, NULL, add, NULL);
    pthread_create(&q, NULL, add, NULL);
    pthread_create(&r, NULL, add, &x);
    pthread_create(&s, NULL, waits, NULL);
    pthread_join(p, NULL);
    pthread_join(q, NULL);
    pthread_join(r, NULL);
#ifdef DONE
    (void)done;
    atomic_store(&x, 1); /* s may also happen here */
#endif
    pthread_join(s, NULL);
}
