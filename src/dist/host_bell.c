/* Ranks of one host: see host_bell.h. */
#define _GNU_SOURCE
#include "dist/host_bell.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

void mz_host_bell_put(struct mz_message *m, const struct mz_pool *p)
{
    mz_put(m, (uint32_t)getpid());
    mz_put(m, (uint32_t)p->common_fd);
    mz_put_long(m, p->common->secret);
}

/* That process number may belong to any process here: check that the file looks right. */
static int open_common(uint32_t pid, uint32_t fd)
{
    static const char name[] = "/memfd:" MZ_COMMON_NAME;
    char path[64], target[64] = "";
    snprintf(path, sizeof path, "/proc/%u/fd/%u", pid, fd);
    if (readlink(path, target, sizeof target - 1) < 0 || strncmp(target, name, sizeof name - 1) != 0)
        return -1;
    return open(path, O_RDWR | O_CLOEXEC);
}

struct mz_common *mz_host_bell_open(struct mz_message *m)
{
    uint32_t pid = mz_get(m), number = mz_get(m);
    uint64_t secret = mz_get_long(m);
    struct stat s;
    bool pretend_far = getenv("MAZURKA_FAR") != NULL; /* for tests: one machine behaves like several */
    int fd = m->bad || pretend_far ? -1 : open_common(pid, number);
    if (fd < 0) return NULL;
    struct mz_common *c = MAP_FAILED;
    if (fstat(fd, &s) == 0 && s.st_size >= (off_t)sizeof *c)
        c = mmap(NULL, sizeof *c, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (c == MAP_FAILED) return NULL;
    if (c->secret == secret) return c;
    mz_host_bell_close(c);
    return NULL;
}

/* The other process may be between its last look and its wait: then it sees that the bell has changed. */
void mz_host_bell_ring(struct mz_common *near)
{
    if (!near) return;
    __atomic_add_fetch(&near->bell, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&near->waiting, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, &near->bell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void mz_host_bell_close(struct mz_common *near)
{
    if (near) munmap(near, sizeof *near);
}
