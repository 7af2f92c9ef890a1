/* The compiler may leave out an access whose value is not used, and keep its hook: a hook that gets an address
 * without memory is a crash, as the access is. The hooks are called here by hand.
 * EXPECT every error kind=crash line=27
 * EXPECT -O0 all error kind=crash line=27
 * EXPECT -O2 all error kind=crash line=27
 * EXPECT -DWRITE all error kind=crash line=21
 * EXPECT -DRANGE all error kind=crash line=23
 * EXPECT -DFAR all error kind=crash line=25
 * EXPECT stateful error kind=crash line=27
 */
#include <pthread.h>
#include <stddef.h>

void __tsan_read4(void *p);
void __tsan_write8(void *p);
void __tsan_read_range(void *p, size_t size);

static void look(char *p)
{
#if defined WRITE
    __tsan_write8(p + 8);
#elif defined RANGE
    __tsan_read_range(p + 100, 24);
#elif defined FAR
    __tsan_read4(p + 0x123456789000);
#else
    __tsan_read4(p);
#endif
}

static void *work(void *x)
{
    look(x);
    return x;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    pthread_join(t, NULL);
    return 0;
}
