#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#define SIZE  ((size_t)32 << 20)
#define TIMES 200
__attribute__((constructor)) static void map_again_and_again(void)
{
    int fd = memfd_create("large", 0);
    char *place = mmap(NULL, SIZE * TIMES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (ftruncate(fd, SIZE) != 0) abort();
    for (size_t i = 0; i < TIMES; i++)
        mmap(place + i * SIZE, SIZE, PROT_READ, MAP_SHARED | MAP_POPULATE | MAP_FIXED, fd, 0);
    close(fd);
}
