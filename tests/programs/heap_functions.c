/* The whole family of malloc, in threads, with blocks that pass from one to the other.
 * EXPECT every verified 2
 */
#define _GNU_SOURCE
#include <assert.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static _Atomic int turn;
static char *left[2];

static void *work(void *arg)
{
    int i = atomic_fetch_add(&turn, 1);
    int *zeros = calloc(100, sizeof *zeros);
    for (int k = 0; k < 100; k++) assert(zeros[k] == 0);
    memset(zeros, 0xff, 100 * sizeof *zeros);
    zeros = realloc(zeros, 1000 * sizeof *zeros);
    for (int k = 0; k < 100; k++) assert(zeros[k] == -1);
    free(zeros);
    void *p = aligned_alloc(64, 128), *q = NULL;
    assert((uintptr_t)p % 64 == 0);
    assert(posix_memalign(&q, 4096, 10) == 0 && (uintptr_t)q % 4096 == 0);
    assert(malloc_usable_size(q) >= 10);
    free(p);
    free(q);
    free(NULL);
    left[i] = strdup("text");
    assert((uintptr_t)left[i] % 1 == 0 && (uintptr_t)malloc(1) % 16 == 0);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(strcmp(left[0], left[1]) == 0 && left[0] != left[1]);
    free(left[0]);
    free(left[1]);
    return 0;
}
