/* Buffers that the kernel fills may be anywhere, also in static memory that nobody has written to before.
 * EXPECT every verified 2
 * EXPECT -DBROKEN all error kind=assertion
 */
#define _GNU_SOURCE
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

#define PAGE _Alignas(4096)

static _Atomic int x;
static struct {
    PAGE int ends[2];
    PAGE struct stat st;
    PAGE char directory[4096];
    PAGE char link[64];
    PAGE struct utsname system;
    PAGE struct rlimit limit;
    PAGE struct tms times;
    PAGE struct pollfd polled;
    PAGE struct sigaction old;
    PAGE sigset_t mask;
    PAGE char stream[8192];
    PAGE char line[100];
    PAGE char parts[2][4096];
    PAGE int waiting;
    PAGE struct sockaddr_storage address;
    PAGE char message[16];
} k;

static void *work(void *arg)
{
    atomic_fetch_add(&x, 1);
    return arg;
}

static void sockets(void)
{
    int pair[2];
    socklen_t size = sizeof k.address;
    assert(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    assert(send(pair[0], "abc", 3, 0) == 3 && recv(pair[1], k.message, sizeof k.message, 0) == 3);
    assert(getsockname(pair[0], (struct sockaddr *)&k.address, &size) == 0);
    assert(k.address.ss_family == AF_UNIX);
}

int main(void)
{
    pthread_t a;
    struct iovec both[2] = {{k.parts[0], 1}, {k.parts[1], 1}};
    assert(pipe(k.ends) == 0);
    assert(write(k.ends[1], "xyz", 3) == 3);
    k.polled = (struct pollfd){k.ends[0], POLLIN, 0};
    assert(poll(&k.polled, 1, 0) == 1 && k.polled.revents == POLLIN);
    assert(ioctl(k.ends[0], FIONREAD, &k.waiting) == 0 && k.waiting == 3);
    assert(readv(k.ends[0], both, 2) == 2 && k.parts[0][0] == 'x' && k.parts[1][0] == 'y');
    assert(stat("/", &k.st) == 0 && S_ISDIR(k.st.st_mode));
    assert(getcwd(k.directory, sizeof k.directory) && k.directory[0] == '/');
    assert(readlink("/proc/self/exe", k.link, sizeof k.link) > 0);
    assert(uname(&k.system) == 0 && k.system.sysname[0] == 'L');
    assert(getrlimit(RLIMIT_NOFILE, &k.limit) == 0 && k.limit.rlim_cur > 0);
    assert(times(&k.times) != (clock_t)-1);
    assert(sigaction(SIGUSR1, NULL, &k.old) == 0 && k.old.sa_handler == SIG_DFL);
    assert(sigprocmask(SIG_BLOCK, NULL, &k.mask) == 0);
    FILE *f = fopen("/proc/self/status", "r");
    assert(f && setvbuf(f, k.stream, _IOFBF, sizeof k.stream) == 0);
    assert(fgets(k.line, sizeof k.line, f) && strncmp(k.line, "Name:", 5) == 0);
    fclose(f);
    sockets();
    pthread_create(&a, NULL, work, NULL);
    atomic_fetch_add(&x, 1);
    pthread_join(a, NULL);
#ifdef BROKEN
    assert(k.message[0] != 'a');
#endif
    return 0;
}
