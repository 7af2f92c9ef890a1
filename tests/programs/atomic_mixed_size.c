/* Accesses of different sizes to the same bytes are in conflict, also when they start at different addresses.
 * EXPECT all error kind=assertion
 * EXPECT -DFIRST_HALF all error kind=assertion
 * EXPECT -DHARMLESS every verified 2
 */
#include <assert.h>
#include <pthread.h>

static union {
    unsigned long whole;
    unsigned half[2];
    unsigned char byte[8];
} u;

static void *writer(void *arg)
{
    __atomic_store_n(&u.whole, 0x0100000001000000ul, __ATOMIC_SEQ_CST);
    return arg;
}

static void *reader(void *arg)
{
#ifdef FIRST_HALF
    unsigned v = __atomic_load_n(&u.half[0], __ATOMIC_SEQ_CST);
#else
    unsigned v = __atomic_load_n(&u.byte[7], __ATOMIC_SEQ_CST);
#endif
#ifdef HARMLESS
    assert(v == 0 || v == 1);
#else
    assert(v == 0);
#endif
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&b, NULL, reader, NULL);
    pthread_create(&a, NULL, writer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
