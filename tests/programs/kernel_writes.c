/* Memory that the kernel writes, whoever makes the system call: two threads without a lock are a data race; with one
 * nothing is wrong. The second thread writes one byte only, behind what the call may write: no race.
 * EXPECT -DCALL=1 all error kind=data-race
 * EXPECT -DCALL=2 all error kind=data-race
 * EXPECT -DCALL=3 all error kind=data-race
 * EXPECT -DCALL=4 all error kind=data-race
 * EXPECT -DCALL=5 all error kind=data-race
 * EXPECT -DCALL=6 all error kind=data-race
 * EXPECT -DCALL=7 all error kind=data-race
 * EXPECT -DLOCK -DCALL=1 all verified
 * EXPECT -DLOCK -DCALL=2 all verified
 * EXPECT -DLOCK -DCALL=3 all verified
 * EXPECT -DLOCK -DCALL=4 all verified
 * EXPECT -DLOCK -DCALL=5 all verified
 * EXPECT -DLOCK -DCALL=6 all verified
 * EXPECT -DLOCK -DCALL=7 all verified
 * EXPECT -DBEHIND -DCALL=2 all verified 1
 * EXPECT -DBEHIND -DCALL=1 all verified 1
 */
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

static char g[1024] __attribute__((aligned(64)));
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void call(void)
{
#if CALL == 1
    int fd = open("/proc/self/comm", O_RDONLY); /* shorter than that */
    struct iovec v[2] = {{g, 2}, {g + 2, 100}};
    assert(readv(fd, v, 2) > 2);
    close(fd);
#elif CALL == 2
    int fd = open("/proc/self/comm", O_RDONLY);
    assert(syscall(SYS_read, fd, g, 100) > 2);
    close(fd);
#elif CALL == 3
    long r;
    __asm__ volatile("syscall" : "=a"(r) : "0"((long)SYS_uname), "D"(g) : "rcx", "r11", "memory");
    assert(r == 0 && g[0]);
#elif CALL == 4
    assert(uname((struct utsname *)(void *)g) == 0 && g[0]);
#elif CALL == 5
    assert(stat("/", (struct stat *)(void *)g) == 0);
#elif CALL == 6
    assert(getrlimit(RLIMIT_NOFILE, (struct rlimit *)(void *)g) == 0);
#elif CALL == 7
    int *fds = (int *)(void *)g;
    assert(pipe(fds) == 0);
    close(fds[0]);
    close(fds[1]);
#endif
}

static void *thread(void *a)
{
#ifdef LOCK
    pthread_mutex_lock(&m);
    call();
    pthread_mutex_unlock(&m);
#else
    if (!a)
        call();
    else
#ifdef BEHIND
        g[90] = 1;
#else
        g[1] = 1;
#endif
#endif
    return a;
}

int main(void)
{
    pthread_t t[2];
    pthread_create(&t[0], 0, thread, 0);
    pthread_create(&t[1], 0, thread, &m);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return 0;
}
