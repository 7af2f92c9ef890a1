/* What a value was that is needed later, and is only in a frame or on its way through one: states that differ in it
 * are not the same. The reader may see 1, and fails then; where it stops, all else is as if it had seen another.
 *
 * Only gcc has nested functions: compiler=gcc.
 * EXPECT -DPASSED stateful error kind=assertion
 * EXPECT -DPASSED -O0 stateful error kind=assertion
 * EXPECT -DPASSED -O2 s-por error kind=assertion
 * EXPECT -DPASSED -O2 dl-s-por error kind=assertion
 * EXPECT -DPASSED --state-match=exact stateful error kind=assertion
 * EXPECT -DPASSED --state-capture=delta stateful error kind=assertion
 * EXPECT -DPOINTER stateful error kind=assertion
 * EXPECT -DPOINTER -O0 stateful error kind=assertion
 * EXPECT -DPOINTER -O2 dl-s-por error kind=assertion
 * EXPECT -DNESTED stateful error kind=assertion compiler=gcc
 * EXPECT -DNESTED -O2 s-por error kind=assertion compiler=gcc
 * EXPECT -DNESTED -O2 dl-s-por error kind=assertion compiler=gcc
 * EXPECT -DCHASED stateful error kind=assertion
 * EXPECT -DCHASED -O2 stateful error kind=assertion
 * EXPECT -DBUFFER -O0 stateful error kind=assertion
 * EXPECT -DBUFFER -O0 dl-s-por error kind=assertion
 * EXPECT -DOWN stateful error kind=assertion
 * EXPECT -DOWN -O0 stateful error kind=assertion
 * EXPECT -DOWN -O0 dl-s-por error kind=assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_long x;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

/* Stops, and nothing that others can see says what was read. */
static inline __attribute__((always_inline)) long read_x(void)
{
    long seen = atomic_load(&x);
    atomic_store(&x, 2);
    return seen;
}
static inline __attribute__((always_inline)) void stop(void)
{
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
}

#ifdef PASSED /* on the stack, from a register that survives calls */
__attribute__((noinline, noclone)) static void check(long a, long b, long c, long d, long e, long f,
                                                     long seen)
{
    __asm__ volatile("" : : "r"(a + b + c + d + e + f));
    assert(seen != 1);
}
static void *reader(void *arg)
{
    long seen = read_x();
    pthread_mutex_lock(&m);
    check(1, 2, 3, 4, 5, 6, seen);
    pthread_mutex_unlock(&m);
    return arg;
}
#elif defined POINTER /* to a variable, on the stack */
__attribute__((noinline, noclone)) static void check(long a, long b, long c, long d, long e, long f,
                                                     long *seen)
{
    __asm__ volatile("" : : "r"(a + b + c + d + e + f));
    *seen = read_x();
    stop();
    assert(*seen != 1);
}
static void *reader(void *arg)
{
    long seen;
    check(1, 2, 3, 4, 5, 6, &seen);
    return arg;
}
#elif defined NESTED  /* by a function within a function */
static void *reader(void *arg)
{
    long seen = 0;
    __attribute__((noinline)) void check(void)
    {
        seen = read_x();
        stop();
        assert(seen != 1);
    }
    check();
    return arg;
}
#elif defined CHASED  /* a pointer to the frame becomes one to something else, in one instruction */
struct item {
    struct item *next;
    long value;
};
static struct item global;
static void *reader(void *arg)
{
    struct item own, *at = &own;
    __asm__ volatile("" : "+r"(at), "=m"(own));
    own.next = &global;
    own.value = read_x();
    stop();
    at = at->next;
    __asm__ volatile("" : "+r"(at));
    at->value = 7;
    __asm__ volatile("" : "+r"(at), "+m"(own));
    assert(own.value != 1);
    return arg;
}
#elif defined BUFFER  /* a pointer into the middle */
static void *reader(void *arg)
{
    char buffer[168];
    long sum = 0, zero = 0, *at = (long *)(void *)(buffer + 144);
    *at = read_x();
    stop();
    sum = *at + zero;
    assert(sum != 1);
    return arg;
}
#else                 /* OWN: the object of an operation that is about to happen */
static void *reader(void *arg)
{
    long expected = 1, seen = read_x();
    if (__atomic_compare_exchange_n(&seen, &expected, 5, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) assert(0);
    return arg;
}
#endif

static void *writer(void *arg)
{
    atomic_store(&x, 1);
    atomic_store(&x, 2);
    return arg;
}

int main(void)
{
    pthread_t r, w;
    pthread_create(&r, NULL, reader, NULL);
    pthread_create(&w, NULL, writer, NULL);
    pthread_join(r, NULL);
    pthread_join(w, NULL);
    (void)stop;
    return 0;
}
