/* System calls that fill buffers of the program: globals, heap, stack.
 * EXPECT every verified 6
 */
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static _Atomic int x;
static char buffer[16384];
static struct stat status;
static int ends[2];

static void *work(void *arg)
{
    atomic_fetch_add(&x, 1);
    return arg;
}

int main(void)
{
    pthread_t t[3];
    int fd = open("/etc/passwd", O_RDONLY);
    ssize_t n = read(fd, buffer, sizeof buffer);
    assert(n > 10 && stat("/etc/passwd", &status) == 0 && status.st_size >= n);
    assert(pipe(ends) == 0 && write(ends[1], buffer, 10) == 10);
    char *block = malloc(100000), local[200];
    assert(read(ends[0], block + 50000, 10) == 10 && memcmp(block + 50000, buffer, 10) == 0);
    assert(getcwd(local, sizeof local));
    FILE *f = fopen("/etc/passwd", "r");
    assert(f && fgets(local, sizeof local, f) && memcmp(local, buffer, 10) == 0);
    for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    assert(fgets(local, sizeof local, f));
    return 0;
}
