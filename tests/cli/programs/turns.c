#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
static void *f(void *a) { return a; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    pthread_join(t, 0);
    int fd = open("sign", O_CREAT | O_EXCL | O_WRONLY, 0600);
    if (fd < 0) unlink("sign");
    assert(fd < 0);
    return 0;
}
