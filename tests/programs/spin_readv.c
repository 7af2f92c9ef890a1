/* A loop that reads a file does not wait for other threads, although each round finds the same byte: each round moves
 * the offset of the file. mazurka must not stop the loop early, whichever function reads.
 * Five loads of main, one store of the other thread: the store is before, between or after the loads.
 * EXPECT every verified 6
 * EXPECT -DCALL=read(fd,&byte,1) every verified 6
 */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef CALL
#define CALL readv(fd, &part, 1)
#endif

static atomic_int other;

static void *store(void *unused)
{
    atomic_store(&other, 1);
    return unused;
}

int main(void)
{
    pthread_t t;
    char byte = 'a';
    const struct iovec part = {&byte, 1};
    int fd = memfd_create("bytes", 0);
    assert(write(fd, "aaaa", 4) == 4 && lseek(fd, 0, SEEK_SET) == 0);
    pthread_create(&t, NULL, store, NULL);
    do atomic_load(&other);
    while (CALL == 1);
    pthread_join(t, NULL);
    close(fd);
    return 0;
}
