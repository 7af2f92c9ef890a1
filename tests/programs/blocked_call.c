/* A system call that does not return is noticed, and said where. Threads that talk to each other through
 * a pipe are told so at once: only one order of what they do with it would be seen.
 * EXPECT optimal failed says=read
 * EXPECT -DPIPE optimal failed says=pipe
 * EXPECT -DALONE every verified 2
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static _Atomic int x;
static int ends[2];

static void *work(void *arg)
{
    atomic_fetch_add(&x, 1);
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
    pthread_join(a, NULL);
#ifdef ALONE
    assert(write(ends[1], "b", 1) == 1);
#endif
    return read(ends[0], &c, 1) != 1;
}
