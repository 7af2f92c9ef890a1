/* A system call that does not return is noticed, and said where. Threads that talk to each other through
 * a pipe without any order are told so: only one order of what they do with it would be seen.
 * EXPECT optimal failed says=read
 * EXPECT -DPIPE optimal failed says=pipe
 * EXPECT -DALONE every verified 2
 * EXPECT -DPIPE -DORDERED every verified 1
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static _Atomic int x;
static int ends[2];

static void *work(void *arg)
{
#ifndef ORDERED
    atomic_fetch_add(&x, 1);
#endif
#ifdef PIPE
    assert(write(ends[1], "a", 1) == 1);
#endif
    return arg;
}

int main(void)
{
    pthread_t a;
    char c;
    assert(pipe(ends) == 0);
    pthread_create(&a, NULL, work, NULL);
    atomic_fetch_add(&x, 1);
#ifdef ORDERED
    pthread_join(a, NULL);
    a = pthread_self();
#elif defined PIPE
    assert(write(ends[1], "a", 1) == 1);
#endif
    if (!pthread_equal(a, pthread_self())) pthread_join(a, NULL);
#ifdef ALONE
    assert(write(ends[1], "b", 1) == 1);
#endif
    return read(ends[0], &c, 1) != 1;
}
