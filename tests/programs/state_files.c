/* What the kernel keeps for a program that only reads files is part of its state: open descriptors, positions in files,
 * mappings, and where the next mapping will lie. Thread 0.1 does something with the file or not, depending on who was
 * first, and forgets it. A search that took the two states for the same would miss the error of the second one; OTHER
 * exchanges the two.
 *
 * ARGS bench/applications/files/first.txt
 * EXPECT all verified
 * EXPECT stateful verified states=..40
 * EXPECT -DPOSITION all error kind=assertion
 * EXPECT -DPOSITION -DOTHER all error kind=assertion
 * EXPECT -DREAD all error kind=assertion
 * EXPECT -DREAD -DOTHER all error kind=assertion
 * EXPECT -DCLOSE all error kind=assertion
 * EXPECT -DCLOSE -DOTHER all error kind=assertion
 * EXPECT -DUNMAP all error kind=crash
 * EXPECT -DUNMAP -DOTHER all error kind=crash
 * EXPECT -DNEXT all error kind=assertion
 * EXPECT -DNEXT -DOTHER all error kind=assertion
 */
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef OTHER
#define SECOND !first
#else
#define SECOND first
#endif

static atomic_int first, later;
static const char *path;

static const char *map(int fd) { return mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0); }

static void *reader(void *unused)
{
    int fd = open(path, O_RDONLY);
    assert(fd >= 0);
    const char *text = map(fd);
    char c;
#if defined(POSITION)
    if (SECOND) lseek(fd, 1, SEEK_SET);
    later++;
    assert(read(fd, &c, 1) == 1 && c == 'T');
#elif defined(READ)
    if (SECOND) {
        char unused_byte;
        assert(read(fd, &unused_byte, 1) == 1);
        *(volatile char *)&unused_byte = 0;
    }
    later++;
    assert(read(fd, &c, 1) == 1 && c == 'T');
#elif defined(CLOSE)
    if (SECOND) close(fd);
    later++;
    assert(read(fd, &c, 1) == 1);
#elif defined(UNMAP)
    if (SECOND) munmap((void *)text, 4096);
    later++;
    c = *(volatile const char *)text;
#elif defined(NEXT)
    if (SECOND) munmap((void *)map(fd), 4096);
    later++;
    assert(map(fd) == text + 2 * 4096); /* of maps.c: a page between mappings */
#else
    assert(read(fd, &c, 1) == 1 && c == 'T');
    later++;
    assert(*text == 'T');
#endif
    (void)c;
    later++;
    munmap((void *)text, 4096);
    close(fd);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    assert(argc == 2);
    path = argv[1];
    pthread_create(&thread, NULL, reader, NULL);
    first = 1;
    later++;
    pthread_join(thread, NULL);
    return 0;
}
