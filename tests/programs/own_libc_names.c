/* A program may define functions with names of libc; nobody but the program calls them.
 * EXPECT every verified 2
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static _Atomic int x;
static int calls;
#define MINE(name)                                                                                           \
    long name(void)                                                                                          \
    {                                                                                                        \
        calls++;                                                                                             \
        return -1;                                                                                           \
    }
#pragma GCC diagnostic ignored "-Wbuiltin-declaration-mismatch"
MINE(read)
MINE(write)
MINE(close)
MINE(fcntl)
MINE(fstat)
MINE(sigaction)
MINE(sigaltstack)
MINE(sigemptyset)
MINE(setitimer)
MINE(mprotect)
MINE(madvise)
MINE(munmap)
MINE(mmap)
MINE(getenv)
MINE(readlink)
MINE(strlen)
MINE(strcmp)
MINE(strncmp)
MINE(strstr)
MINE(strtol)
MINE(fflush)
MINE(syscall)

static void *work(void *arg)
{
    atomic_fetch_add(&x, 1);
    return arg;
}

int main(void)
{
    pthread_t a;
    assert(calls == 0);
    assert(read() == -1 && calls == 1);
    pthread_create(&a, NULL, work, NULL);
    atomic_fetch_add(&x, 1);
    pthread_join(a, NULL);
    assert(calls == 1);
    return 0;
}
