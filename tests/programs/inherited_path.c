/* A descriptor that only stands for a path (O_PATH), open before main: it is there in every execution, also if it
 * is closed in one. Questions about a thread by its number are answered.
 *
 * EXPECT every verified 2
 */
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

static int directory;
static _Atomic int count;

__attribute__((constructor)) static void open_directory(void) { directory = open("/", O_PATH | O_DIRECTORY); }

static void *thread(void *arg)
{
    count++;
    assert(getpgid((pid_t)syscall(SYS_gettid)) == getpgid(0));
    assert(getsid((pid_t)syscall(SYS_gettid)) == getsid(0));
    return arg;
}

int main(void)
{
    pthread_t a, b;
    int there = openat(directory, "dev/null", O_RDONLY);
    assert(directory > 2 && there > 2);
    pthread_create(&a, NULL, thread, NULL);
    pthread_create(&b, NULL, thread, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(close(directory) == 0 && count == 2);
    return 0;
}
