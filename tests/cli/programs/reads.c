#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
static atomic_int n;
static char buffer[10000];
static void *f(void *a)
{
    n++;
    return a;
}
int main(void)
{
    pthread_t t;
    int fd = open("/dev/zero", O_RDONLY);
    assert(fd >= 0 && read(fd, buffer, sizeof buffer) == sizeof buffer);
    pthread_create(&t, 0, f, 0);
    n++;
    pthread_join(t, 0);
    assert(n == 2);
    return 0;
}
