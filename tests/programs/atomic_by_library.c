/* clang calls functions of libatomic for atomics of 16 bytes, of other sizes than 1, 2, 4 and 8, and for atomics that are not
 * aligned; gcc for sizes like 3 and 24. They are atomic operations
 * like the others. clang rounds sizes up, and then compares bytes that have no value.
 * OPTIONS -latomic
 * EXPECT -DTYPE=four all verified
 * EXPECT -DTYPE=four -DLOST all error kind=assertion
 * EXPECT -DTYPE=two -DLOST all error kind=assertion
 * EXPECT -DTYPE=two stateful verified
 * EXPECT -DTYPE=one all verified
 * EXPECT -DTYPE=one -DLOST s-por error kind=assertion
 * EXPECT -DTYPE=small -DLOST all error kind=assertion
 * EXPECT -DTYPE=small all verified compiler=gcc
 * EXPECT -DTYPE=odd -DLOST all error kind=assertion
 * EXPECT -DTYPE=odd sdpor verified compiler=gcc
 * EXPECT -DTYPE=two -DWAITS all verified
 * EXPECT -DTYPE=small -DWAITS stateful verified compiler=gcc
 * EXPECT -DTYPE=four -DWAITS stateful verified
 * EXPECT -DTYPE=two -DWAITS -DSTRICT --strict optimal verified
 * EXPECT -DTYPE=four -DPLAIN all error kind=data-race
 * EXPECT -DTYPE=two -DPLAIN all error kind=data-race
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

typedef struct {
    char b[3];
} small;
typedef struct {
    char b[7];
} odd;
typedef struct {
    long a;
} one;
typedef struct {
    long a, b;
} two;
typedef struct {
    long a, b, c, d;
} four;

static _Atomic TYPE shared;
static pthread_t thread;

static TYPE plus_one(TYPE t)
{
    (*(char *)&t)++;
    return t;
}

static int low(TYPE t) { return *(char *)&t; }

static void *work(void *arg)
{
#ifdef PLAIN
    ((char *)&shared)[sizeof(TYPE) - 1] = 1;
#elif defined WAITS
    TYPE t;
    memset(&t, 0, sizeof t);
    atomic_store(&shared, plus_one(t));
#elif defined LOST
    TYPE t = atomic_load(&shared);
    atomic_store(&shared, plus_one(t));
#else
    TYPE old = atomic_load(&shared);
    while (!atomic_compare_exchange_weak(&shared, &old, plus_one(old))) continue;
#endif
    return arg;
}

int main(void)
{
    pthread_create(&thread, NULL, work, NULL);
#ifdef PLAIN
    TYPE t = atomic_load(&shared);
    assert(low(t) == 0);
#elif defined WAITS
    while (low(atomic_load(&shared)) == 0) continue;
#else
    work(NULL);
#endif
    pthread_join(thread, NULL);
#if !defined PLAIN && !defined WAITS
    assert(low(atomic_exchange(&shared, atomic_load(&shared))) == 2);
#endif
    return 0;
}
