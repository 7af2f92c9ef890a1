/* What a program changes in its process is as before in the next execution.
 * EXPECT every verified 2
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static _Atomic int x;

static void *work(void *arg)
{
    atomic_fetch_add(&x, 1);
    return arg;
}

int main(void)
{
    pthread_t a;
    char here[4096];
    struct rlimit limit;
    int fd = open("/dev/null", O_RDONLY);
    assert(fd == 3);
    assert(umask(0123) != 0123);
    assert(getcwd(here, sizeof here) && strcmp(here, "/proc") != 0 && chdir("/proc") == 0);
    assert(getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != 12345 << 12);
    limit.rlim_cur = 12345 << 12;
    assert(setrlimit(RLIMIT_STACK, &limit) == 0);
    assert(!getenv("MAZURKA_TEST_VARIABLE") && setenv("MAZURKA_TEST_VARIABLE", "1", 1) == 0);
    assert(!(fcntl(2, F_GETFL) & O_NONBLOCK) && fcntl(2, F_SETFL, O_NONBLOCK) == 0);
    pthread_create(&a, NULL, work, NULL);
    atomic_fetch_add(&x, 1);
    pthread_join(a, NULL);
    assert(close(0) == 0 && close(0) == -1 && errno == EBADF);
    assert(dup2(fd, 1) == 1 && write(1, "x", 1) == -1);
    assert(close_range(2, ~0u, 0) == 0);
    return 0;
}
