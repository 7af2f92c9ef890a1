/* Threads can be told apart by all that tells threads apart; large thread-local storage is put back too.
 * EXPECT every verified 2
 */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Atomic int x;
static void *pointer[2];
static pid_t id[2];
#ifndef NO_TLS
static __thread char large[3 << 20];
#endif

static void look(int who)
{
    char name[16];
    pointer[who] = __builtin_thread_pointer();
    id[who] = gettid();
    assert(id[who] == syscall(SYS_gettid));
#ifndef NO_TLS
    assert(large[0] == 0 && large[sizeof large - 1] == 0);
    large[0] = large[sizeof large - 1] = 1;
#endif
    pthread_setname_np(pthread_self(), who ? "one" : "zero");
    atomic_fetch_add(&x, 1);
    assert(pthread_getname_np(pthread_self(), name, sizeof name) == 0);
    assert(strcmp(name, who ? "one" : "zero") == 0);
    assert(pointer[who] == __builtin_thread_pointer() && id[who] == gettid());
}

static void *work(void *arg)
{
    look(1);
    return arg;
}

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, work, NULL);
    look(0);
    pthread_join(a, NULL);
    assert(pointer[0] != pointer[1] && id[0] != id[1] && id[0] == getpid());
    return 0;
}
