/* Blocks of the heap that are large enough for the kernel to be asked which pages were written (kernel/written.c), written
 * to by a function of libc that has no hooks. Thread 0.1 writes or not, depending on who was first. A search that misses
 * the write takes two states for the same, or goes back to a state that never was; OTHER exchanges the two.
 *
 * EXPECT all verified
 * EXPECT --backtrack=checkpoint all verified
 * EXPECT --backtrack=rerun optimal verified
 * EXPECT -DWRITE all error kind=assertion
 * EXPECT -DWRITE -DOTHER all error kind=assertion
 * EXPECT -DWRITE --backtrack=checkpoint all error kind=assertion
 * EXPECT -DWRITE -DOTHER --backtrack=checkpoint all error kind=assertion
 */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define SIZE ((size_t)1 << 20)
#define FAR  (SIZE - 5000)

#ifdef OTHER
#define SECOND !first
#else
#define SECOND first
#endif

static atomic_int first, later;
static char *block;

/* A fresh block is zero, also where the arena had other contents before the search went back. */
static void fresh(void)
{
    char *p = calloc(1, SIZE);
    assert(!p[0] && !p[FAR] && !p[SIZE - 1]);
    memfrob(p + FAR, 1);
    later++;
    assert(p[FAR] == 42 && !p[0]);
    free(p);
}

static void *worker(void *unused)
{
    int was = block[FAR];
#ifdef WRITE
    if (SECOND) memfrob(block + FAR, 1); /* exclusive or with 42 */
    later++;
    assert(block[FAR] == was);
#else
    memfrob(block + FAR, 1);
    later++;
    assert(block[FAR] == (was ^ 42));
    memfrob(block + FAR, 1);
    later++;
    assert(block[FAR] == was);
    fresh();
#endif
    return unused;
}

int main(void)
{
    pthread_t thread;
    block = malloc(SIZE);
    memset(block, 1, SIZE);
    pthread_create(&thread, NULL, worker, NULL);
    first = 1;
    later++;
    fresh();
    pthread_join(thread, NULL);
    assert(block[0] == 1 && block[SIZE - 1] == 1);
    free(block);
    return 0;
}
