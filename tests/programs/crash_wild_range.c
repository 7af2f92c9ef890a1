/* A memset, memcpy or memmove of a terabyte fails where its memory ends, at once, and one of some pages
 * does not fail at all.
 *
 * EXPECT every verified 2
 * EXPECT -DSET all error kind=out-of-bounds line=27 mib=200
 * EXPECT -DCOPY all error kind=out-of-bounds line=29 mib=200
 * EXPECT -DMOVE all error kind=out-of-bounds line=31 mib=200
 * EXPECT -DSTACK all error kind=crash line=33 mib=200
 * EXPECT -DNOWHERE all error kind=crash line=35 mib=200
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

static struct {
    _Atomic int x;
    char from[100000], to[100000];
} g; /* x is not behind what is accessed */
static volatile size_t wild = (size_t)1 << 40, some = sizeof g.from - 3;

static void *work(void *arg)
{
    atomic_store(&g.x, 1);
    memmove(g.to + 1, g.from, some);
#if defined SET
    memset(g.to + 1, 0, wild);
#elif defined COPY
    memcpy(g.to, g.from, wild);
#elif defined MOVE
    memmove(g.to, g.from, wild);
#elif defined STACK
    memset(&arg, 0, wild);
#elif defined NOWHERE
    memset((void *)(uintptr_t)wild, 0, wild);
#endif
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    atomic_store(&g.x, 2);
    pthread_join(t, NULL);
    return 0;
}
