/* Appends the recorded tree of a search (--record-tree), or its classes (--classes), to the file that the
 * command has named. The file is opened and closed for each piece of a megabyte, between executions. So the
 * program never sees a descriptor of the runtime. The engine calls it through mz_tree_file and
 * mz_class_file. */
#include "runtime/kernel/kernel.h"

#include <fcntl.h>

static void fail(long result)
{
    if (!rt.channel->tree_error) rt.channel->tree_error = (uint32_t)-result;
}

static void write_tree(void *system, const uint8_t *bytes, size_t size, bool first)
{
    (void)system;
    if (rt.channel->tree_error) return;
    int flags = O_WRONLY | O_APPEND | O_CLOEXEC | (first ? O_TRUNC : 0);
    long fd = mz_sys(SYS_openat, AT_FDCWD, rt.channel->tree_file, flags, 0);
    if (mz_sys_failed(fd)) {
        fail(fd);
        return;
    }
    while (size > 0) {
        long n = mz_sys(SYS_write, fd, bytes, size);
        if (mz_sys_failed(n)) {
            fail(n);
            break;
        }
        bytes += n;
        size -= (size_t)n;
    }
    mz_sys(SYS_close, fd);
}

const char *mz_thread_path(void *system, int thread)
{
    (void)system;
    return rt.channel->threads[thread].name;
}

const struct mz_tree_log_options mz_tree_file = {.write = write_tree};
const struct mz_class_log_options mz_class_file = {.write = write_tree, .thread_name = mz_thread_path};
