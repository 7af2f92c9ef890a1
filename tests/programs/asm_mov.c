/* Loads and stores as Concurrency Kit writes them: a volatile statement of one mov, from or to an operand in memory. It
 * is an atomic access (a load acquires, a store releases), so a message is passed. Without volatile, or as plain C, it is
 * a data race; so is what a message does not order.
 * EXPECT every verified 2
 * EXPECT -DSPIN all verified
 * EXPECT -DREADERS every verified 1
 * EXPECT -DPLAIN_STORE all error kind=data-race
 * EXPECT -DPLAIN_LOAD all error kind=data-race
 * EXPECT -DNOT_VOLATILE all error kind=data-race
 * EXPECT -DUNORDERED all error kind=data-race
 * EXPECT -DTWO all error kind=data-race
 * EXPECT -DUNALIGNED all error kind=data-race
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

static int flag, data;

static inline int load(const int *target)
{
#ifdef PLAIN_LOAD
    return *target;
#else
    int r;
    __asm__ __volatile__("movl %1, %0" : "=q"(r) : "m"(*target) : "memory");
    return r;
#endif
}

static inline void store(int *target, int v)
{
#if defined PLAIN_STORE
    *target = v;
#elif defined NOT_VOLATILE
    __asm__("movl %1, %0" : "=m"(*target) : "iq"(v) : "memory");
#elif defined TWO
    __asm__ __volatile__("movb %b1, %0\n\tmovl %1, %0" : "=m"(*target) : "q"(v) : "memory");
#else
    __asm__ __volatile__("movl %1, %0" : "=m"(*target) : "iq"(v) : "memory");
#endif
}

static void *writer(void *a)
{
#ifdef UNORDERED
    store(&flag, 1);
    data = 1;
#elif !defined READERS
    data = 1;
    store(&flag, 1);
#else
    (void)load(&flag);
#endif
    return a;
}

static void *reader(void *a)
{
#ifdef SPIN
    while (!load(&flag)) __asm__ __volatile__("pause" ::: "memory");
    assert(data == 1);
#else
    if (load(&flag)) assert(data == 1);
#endif
    return a;
}

/* The address is not known to be a multiple of four: it is no atomic access. */
static char words[16] __attribute__((aligned(8)));
static void *across(void *a)
{
    store((int *)(void *)(words + 2), 1);
    return a;
}

int main(void)
{
    pthread_t t[2];
    bool unaligned = false;
#ifdef UNALIGNED
    unaligned = true;
#endif
    pthread_create(&t[0], 0, unaligned ? across : writer, 0);
    pthread_create(&t[1], 0, unaligned ? across : reader, 0);
    pthread_join(t[0], 0);
    pthread_join(t[1], 0);
    return 0;
}
