/* A loop that never ends and waits for nothing: whatever operations it consists of, it is followed for some rounds
 * only, so that the error of the other threads is found.
 * EXPECT -DBODY=x=1 all error kind=assertion search=stateless
 * EXPECT -DBODY=x=2,x=1 all error kind=assertion search=stateless
 * EXPECT -DBODY=sem_post(&s) all error kind=assertion search=stateless
 * EXPECT -DBODY=(sem_post(&s),sem_wait(&s)) all error kind=assertion search=stateless
 * EXPECT -DBODY=pthread_cond_signal(&c) all error kind=assertion search=stateless
 * EXPECT -DBODY=pthread_cond_broadcast(&c) all error kind=assertion search=stateless
 * EXPECT -DBODY=pthread_barrier_wait(&b) all error kind=assertion search=stateless
 * EXPECT -DBODY=(pthread_spin_lock(&l),pthread_spin_unlock(&l)) all error kind=assertion search=stateless
 * EXPECT -DBODY=syscall(SYS_futex,&x,FUTEX_WAKE,1,0,0,0) all error kind=assertion search=stateless
 * EXPECT -DBODY=plain=1 --data-races=allow all error kind=assertion search=stateless
 */
#define _GNU_SOURCE
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

atomic_int x, y; /* not static: clang removes stores that nobody reads */
static volatile int plain;
static sem_t s;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t b;
static pthread_spinlock_t l;

static void *reads(void *arg)
{
    int first = y, second = y;
    assert(!(first == 0 && second == 1));
    return arg;
}

static void *writes(void *arg)
{
    y = 1;
    return arg;
}

int main(void)
{
    pthread_t t, u;
    sem_init(&s, 0, 0);
    pthread_barrier_init(&b, NULL, 1);
    pthread_spin_init(&l, 0);
    pthread_create(&t, NULL, reads, NULL);
    pthread_create(&u, NULL, writes, NULL);
#ifndef BODY
#define BODY x = 1
#endif
    for (;;) BODY;
}
