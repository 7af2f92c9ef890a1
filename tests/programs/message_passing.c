/* Message passing: the data is plain, the flag atomic. Right with release and acquire, with sequential
 * consistency, or with fences; a data race with anything weaker.
 * EXPECT -DSTORE=release -DLOAD=acquire every verified 2
 * EXPECT -DSTORE=seq_cst -DLOAD=seq_cst every verified 2
 * EXPECT -DSTORE=release -DLOAD=consume optimal verified 2
 * EXPECT -DSTORE=relaxed -DLOAD=relaxed all error kind=data-race
 * EXPECT -DSTORE=release -DLOAD=relaxed all error kind=data-race
 * EXPECT -DSTORE=relaxed -DLOAD=acquire all error kind=data-race
 * EXPECT -DSTORE=relaxed -DLOAD=relaxed -DRELEASE_FENCE -DACQUIRE_FENCE every verified 2
 * EXPECT -DSTORE=relaxed -DLOAD=acquire -DRELEASE_FENCE every verified 2
 * EXPECT -DSTORE=release -DLOAD=relaxed -DACQUIRE_FENCE every verified 2
 * EXPECT -DSTORE=relaxed -DLOAD=relaxed -DRELEASE_FENCE all error kind=data-race
 * EXPECT -DSTORE=relaxed -DLOAD=relaxed -DACQUIRE_FENCE all error kind=data-race
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef STORE
#define STORE release
#define LOAD  acquire
#endif
#define ORDER_(name) memory_order_##name
#define ORDER(name)  ORDER_(name)

static _Atomic int ready;
static int data;

static void *producer(void *arg)
{
    data = 42;
#ifdef RELEASE_FENCE
    atomic_thread_fence(memory_order_release);
#endif
    atomic_store_explicit(&ready, 1, ORDER(STORE));
    return arg;
}

static void *consumer(void *arg)
{
    if (atomic_load_explicit(&ready, ORDER(LOAD))) {
#ifdef ACQUIRE_FENCE
        atomic_thread_fence(memory_order_acquire);
#endif
        assert(data == 42);
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, producer, NULL);
    pthread_create(&b, NULL, consumer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
