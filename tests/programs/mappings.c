/* Mappings are the same in every execution: same addresses, fresh contents, gone at the end. Protection
 * of the program's memory is put back.
 * The stateful algorithms do not support mappings, and say so: search=stateless.
 * EXPECT every verified 2 search=stateless
 * EXPECT -DUNMAPPED all error kind=crash search=stateless
 * EXPECT -DPROTECTED all error kind=crash search=stateless
 * EXPECT -DRACE all error kind=data-race search=stateless
 */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)

static _Alignas(PAGE) char global[PAGE];
static _Atomic int *shared;
static char *early;

static char *map(size_t size)
{
    char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, ANON, -1, 0);
    assert(p != MAP_FAILED && p[0] == 0 && p[size - 1] == 0);
    memset(p, 1, size);
    return p;
}

__attribute__((constructor)) static void begin(void)
{
    early = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, ANON, -1, 0);
}

static void *work(void *arg)
{
    char *p = map(PAGE);
    atomic_fetch_add(shared, 1);
    munmap(p, PAGE);
    return arg;
}

#ifdef RACE
static void *reader(void *p) { return (void *)(long)*(volatile char *)p; }
#endif

int main(void)
{
    pthread_t a;
    assert(early[0] == 0);
    early[0] = 1;
    char *p = map(3 * PAGE), *q = mremap(p, 3 * PAGE, 5 * PAGE, MREMAP_MAYMOVE);
    assert(q != MAP_FAILED && q[0] == 1 && q[3 * PAGE] == 0);
    char *b = sbrk(PAGE);
    assert(b != (char *)-1 && b[0] == 0 && b[PAGE - 1] == 0);
    memset(b, 1, PAGE);
    assert(global[0] == 0);
    global[0] = 1;
    assert(mprotect(global, PAGE, PROT_READ) == 0 && mprotect(q, PAGE, PROT_NONE) == 0);
    shared = (_Atomic int *)(void *)map(PAGE);
    *shared = 0;
    pthread_create(&a, NULL, work, NULL);
    atomic_fetch_add(shared, 1);
    pthread_join(a, NULL);
    assert(*shared == 2);
#ifdef UNMAPPED
    munmap(q + PAGE, PAGE);
    q[PAGE] = 1;
#endif
#ifdef PROTECTED
    global[1] = 1;
#endif
#ifdef RACE
    pthread_create(&a, NULL, reader, q + PAGE);
    munmap(q + PAGE, PAGE);
    pthread_join(a, NULL);
#endif
    return 0;
}
