/* Ranges of whole pages have one entry in the race check (runtime/memory/shadow.h, struct mz_summary): a page that is accessed as
 * a whole, then in part, by the same thread and by others. The heap block has 64 pages, of which none is aligned.
 * EXPECT all verified
 * EXPECT -DFREED all error kind=use-after-free
 * EXPECT -DBYTE all error kind=data-race
 * EXPECT -DREAD all error kind=data-race
 * EXPECT -DWHOLE all error kind=data-race
 * EXPECT -DCOPY all error kind=data-race
 * EXPECT -DLATER all error kind=data-race
 * EXPECT -DREADERS all error kind=data-race
 * EXPECT -DFREE_RACE all error kind=data-race
 * EXPECT -DGLOBAL all verified
 * EXPECT -DGLOBAL -DBYTE all error kind=data-race
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define SIZE (64 * 4096)

static char *block, *copy;
#ifdef GLOBAL
static char global[SIZE];
#endif
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int flag, seen;

/* Writes all pages, then some bytes, in two sections: going back crosses what the pages are known as. */
static void *writer(void *arg)
{
    pthread_mutex_lock(&mutex);
    memset(block, 1, SIZE);
    pthread_mutex_unlock(&mutex);
    pthread_mutex_lock(&mutex);
    block[5 * 4096 + 100] = 2;
    memset(block, 3, SIZE);
    pthread_mutex_unlock(&mutex);
    seen++;
    return arg;
}

static void *other(void *arg)
{
    seen++;
#if defined BYTE
    block[30 * 4096 + 7] = 1;
#elif defined READ
    if (block[30 * 4096 + 7] == 9) abort();
#elif defined WHOLE
    memset(block, 4, SIZE);
#elif defined COPY
    memcpy(copy, block, SIZE);
#elif defined LATER
    pthread_mutex_lock(&mutex);
    memset(block, 4, SIZE);
    pthread_mutex_unlock(&mutex);
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    block[4096 * 9] = 1;
#elif defined READERS
    pthread_mutex_lock(&mutex);
    memcpy(copy, block, SIZE);
    pthread_mutex_unlock(&mutex);
    memcpy(copy, block, SIZE);
#elif defined FREE_RACE
    free(block);
#else
    pthread_mutex_lock(&mutex);
    memcpy(copy, block, SIZE);
    assert(copy[5 * 4096 + 100] == copy[0] && copy[SIZE - 1] == copy[0]);
    block[8 * 4096] = copy[0];
    pthread_mutex_unlock(&mutex);
#endif
    return arg;
}

int main(void)
{
    pthread_t t[2];
#ifdef GLOBAL
    block = global;
#else
    block = malloc(SIZE);
    memset(block, 0, SIZE);
#endif
    copy = malloc(SIZE);
    pthread_create(&t[0], NULL, writer, NULL);
    pthread_create(&t[1], NULL, other, NULL);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
#ifdef FREED
    free(block);
    memset(block, 1, SIZE);
#endif
    return 0;
}
