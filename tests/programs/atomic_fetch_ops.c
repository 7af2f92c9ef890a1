/* Every read-modify-write operation: both orders give a result that is allowed, and the old values tell
 * which order it was.
 * EXPECT every verified 2
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int bits = 0x0f;
static int plain = 0x0f, old_or, old_and;

static void *with_or(void *arg)
{
    old_or = atomic_fetch_or(&bits, 0xf0);
    return arg;
}

static void *with_and(void *arg)
{
    old_and = atomic_fetch_and(&bits, 0x3c);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    assert(atomic_fetch_xor(&bits, 0xff) == 0x0f);
    assert(atomic_fetch_xor(&bits, 0xff) == 0xf0);
    assert(atomic_fetch_add(&bits, 1) == 0x0f);
    assert(atomic_fetch_sub(&bits, 1) == 0x10);
    assert(atomic_exchange(&bits, 0x0f) == 0x0f);
    assert(__atomic_fetch_nand(&plain, 0x05, __ATOMIC_SEQ_CST) == 0x0f && plain == ~0x05);
    pthread_create(&a, NULL, with_or, NULL);
    pthread_create(&b, NULL, with_and, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    if (old_or == 0x0f)
        assert(old_and == 0xff && bits == 0x3c);
    else
        assert(old_or == 0x0c && old_and == 0x0f && bits == 0xfc);
    return 0;
}
