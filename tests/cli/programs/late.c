#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void second_is_late(void)
{
#ifdef BROKEN
    exit(3);
#endif
    int fd = open("first", O_CREAT | O_EXCL | O_WRONLY, 0600);
    for (volatile long k = 0; fd < 0 && k < 4000000000000; k++) { }
    close(fd);
}
