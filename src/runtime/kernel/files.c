/* The state that the kernel holds for the process beside its memory: descriptors, working directory, file
 * mode mask, limits. This file puts it back before every execution, if the last execution changed it. For
 * kernel.c and executions.c.
 *
 * A descriptor that is open when the program starts has a copy with a high number, which the program cannot
 * use. Before an execution, the descriptor is opened again from the copy and moved to its first position in
 * the file. All other descriptors are closed.
 *
 * Operations on descriptors are not events, so the search explores only one order of them. There is only one
 * order if synchronization orders the uses of a descriptor, as with accesses to a variable. If it does not,
 * and one thread can read what the other thread writes (the ends of a pipe, sockets), the use is refused; for
 * files, the report mentions it. Connected descriptors form a group. All sockets are one group. */
#define _GNU_SOURCE
#include "runtime/kernel/kernel.h"
#include "runtime/kernel/room.h"
#include "runtime/memory/memory.h"
#include "runtime/memory/race_order.h"
#include "runtime/rewind/rewind.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#define NOBODY  255
#define SOCKETS (MZ_DESCRIPTORS - 1) /* the group of all sockets */

#define fi mz_kernel_room.files

static bool is_copy(int fd)
{
    if (fd < fi.lowest_copy) return false;
    for (int i = 0; i < fi.kept_count; i++)
        if (fi.kept[i].copy == fd) return true;
    for (int i = 0; i < fi.hidden_count; i++)
        if (fi.hidden[i] == fd) return true;
    return fi.directory && fd == fi.directory;
}

static void keep(int fd)
{
    long fd_flags = mz_sys(SYS_fcntl, fd, F_GETFD);
    if (fd_flags < 0) return;
    if (fi.kept_count == MZ_DESCRIPTOR_COPIES)
        mz_unsupported("more than 64 open descriptors at the start", "close some before mazurka check");
    int i = fi.kept_count++;
    fi.kept[i].fd = fd;
    fi.kept[i].copy = (int)mz_sys(SYS_fcntl, fd, F_DUPFD_CLOEXEC, fi.lowest_copy);
    if (fi.kept[i].copy < 0) mz_unsupported("a limit of open descriptors this low", "raise it (ulimit -n)");
    fi.kept[i].fd_flags = (int)fd_flags;
    fi.kept[i].flags = (int)mz_sys(SYS_fcntl, fd, F_GETFL);
    /* Only descriptors for reading are moved back. Output of each execution goes behind the output of the one
     * before, and other processes may write to the same file. */
    bool reads = (fi.kept[i].flags & O_ACCMODE) == O_RDONLY;
    fi.kept[i].offset = reads ? mz_sys(SYS_lseek, fd, 0, SEEK_CUR) : -1;
}

struct entry { /* directory entry of getdents64 */
    uint64_t number, next;
    uint16_t length;
    uint8_t type;
    char name[];
};

static int number(const char *digits)
{
    int n = 0;
    for (; *digits >= '0' && *digits <= '9' && n < MZ_DESCRIPTORS; digits++) n = 10 * n + *digits - '0';
    return n;
}

/* Set open[fd] for each open descriptor. Return false if the kernel gives no list. (poll() is faster, but
 * does not see descriptors with O_PATH.) */
static bool list_open_ones(bool *open)
{
    _Alignas(struct entry) char entries[4096];
    int list = (int)mz_sys(SYS_open, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (list < 0) return false;
    long n;
    while ((n = mz_sys(SYS_getdents64, list, entries, sizeof entries)) > 0)
        for (const struct entry *e = (void *)entries; (const char *)e < entries + n;
             e = (const void *)((const char *)e + e->length)) {
            int fd = number(e->name);
            if (e->name[0] != '.' && fd < MZ_DESCRIPTORS && fd != list) open[fd] = true;
        }
    mz_sys(SYS_close, list);
    return n == 0;
}

static void keep_open_ones(void)
{
    bool open[MZ_DESCRIPTORS] = {false}, known = list_open_ones(open);
    for (int fd = 0; fd < MZ_DESCRIPTORS; fd++)
        if ((open[fd] || !known) && !is_copy(fd)) keep(fd);
}

static int kept_index(int fd)
{
    for (int i = 0; i < fi.kept_count; i++)
        if (fi.kept[i].fd == fd) return i;
    return -1;
}

/* Split the range first..last into parts without our copies. Without `kept_too`, the parts also leave out the
 * descriptors that were open at the start. Return the number of parts. */
static int parts_of(unsigned first, unsigned last, bool kept_too, struct mz_descriptor_range *parts)
{
    unsigned from = first;
    int count = 0;
    for (unsigned fd = first; fd <= last && fd < MZ_DESCRIPTORS; fd++) {
        if (!is_copy((int)fd) && (kept_too || kept_index((int)fd) < 0)) continue;
        if (from < fd) parts[count++] = (struct mz_descriptor_range){from, fd - 1};
        from = fd + 1;
    }
    if (from <= last) parts[count++] = (struct mz_descriptor_range){from, last};
    return count;
}

void mz_files_init(void)
{
    struct rlimit limit = {MZ_DESCRIPTORS, MZ_DESCRIPTORS};
    mz_sys(SYS_getrlimit, RLIMIT_NOFILE, &limit);
    int most = (int)(limit.rlim_cur > MZ_DESCRIPTORS ? MZ_DESCRIPTORS : limit.rlim_cur);
    fi.lowest_copy = most > 4 * MZ_DESCRIPTOR_COPIES ? most - MZ_DESCRIPTOR_COPIES - 1 : most / 2;
    keep_open_ones();
    int here = (int)mz_sys(SYS_open, ".", O_PATH | O_CLOEXEC);
    fi.directory = here < 0 ? here : (int)mz_sys(SYS_fcntl, here, F_DUPFD_CLOEXEC, fi.lowest_copy);
    if (here >= 0) mz_sys(SYS_close, here);
    fi.mask = -1;
    fi.free_count = parts_of(0, ~0u, false, fi.free);
}

/* Move a descriptor of the runtime to a number that the program cannot use. Return the new number, or -1. */
int mz_files_hide(int fd)
{
    long to = fi.hidden_count < 2 ? mz_sys(SYS_fcntl, fd, F_DUPFD_CLOEXEC, fi.lowest_copy) : -1;
    mz_sys(SYS_close, fd);
    if (mz_sys_failed(to)) return -1;
    fi.hidden[fi.hidden_count++] = (int)to;
    fi.free_count = parts_of(0, ~0u, false, fi.free);
    return (int)to;
}

void mz_files_reset(void)
{
    for (int i = 0; fi.opened && i < fi.free_count; i++)
        mz_sys(SYS_close_range, fi.free[i].first, fi.free[i].last, 0);
    for (int i = 0; fi.replaced && i < fi.kept_count; i++) {
        mz_sys(SYS_dup3, fi.kept[i].copy, fi.kept[i].fd, fi.kept[i].fd_flags & FD_CLOEXEC ? O_CLOEXEC : 0);
        mz_sys(SYS_fcntl, fi.kept[i].fd, F_SETFL, fi.kept[i].flags);
    }
    for (int i = 0; fi.moved && i < fi.kept_count; i++)
        if (fi.kept[i].offset >= 0) mz_sys(SYS_lseek, fi.kept[i].fd, fi.kept[i].offset, SEEK_SET);
    if (fi.directory_changed) mz_sys(SYS_fchdir, fi.directory);
    if (fi.mask >= 0) mz_sys(SYS_umask, fi.mask);
    for (int i = 0; fi.limits_changed && i < MZ_LIMITS; i++)
        if (fi.limits_changed >> i & 1) mz_sys(SYS_setrlimit, i, &fi.limits[i]);
    fi.opened = fi.replaced = fi.moved = fi.directory_changed = false;
    fi.mask = -1;
    fi.limits_changed = 0;
}

/* ---- which thread uses which descriptor ---- */

static struct mz_descriptor_use *use_of(int fd)
{
    bool known = fd > STDERR_FILENO && fd < MZ_DESCRIPTORS && fi.uses[fd].execution == rt.execution;
    return known ? &fi.uses[fi.uses[fd].group] : NULL;
}

static void start_group(int group, bool connects)
{
    fi.uses[group] = (struct mz_descriptor_use){rt.execution, 0, NOBODY, connects, (uint16_t)group};
}

void mz_files_new(int fd, int like, bool connects)
{
    fi.opened = true;
    if (fd < 0 || fd >= MZ_DESCRIPTORS) return;
    start_group(fd, connects);
    if (like >= 0 && like < MZ_DESCRIPTORS) fi.uses[fd].group = fi.uses[like].group;
}

void mz_files_new_socket(int fd)
{
    if (fi.uses[SOCKETS].execution != rt.execution) start_group(SOCKETS, true);
    mz_files_new(fd, SOCKETS, true);
}

/* Does synchronization order the last use before this one? On the repeated part of a path that was checked
 * before. */
static bool ordered(const struct mz_descriptor_use *u)
{
    return u->thread == NOBODY || !rt.path->live || mz_happens_before(u->thread, u->epoch);
}

void mz_files_use(const struct mz_call *call, int fd)
{
    struct mz_descriptor_use *u = use_of(fd);
    fi.moved = true;
    if (!u) return;
    if (!ordered(u)) {
        if (u->connects)
            mz_kernel_refuse(call, "a pipe, socket or eventfd that two threads use without synchronization",
                             "use a queue in memory, with a mutex and condition variables");
        mz_unseen("two threads use the same descriptor: the order of their operations on it is not explored");
    }
    u->thread = rt.self;
    u->epoch = rt.run.threads[rt.self].epoch;
}

long mz_files_close(struct mz_call *call)
{
    int fd = (int)call->a[0];
    if (is_copy(fd)) return -EBADF;
    mz_files_use(call, fd);
    if (kept_index(fd) >= 0) fi.replaced = true;
    return mz_sys(SYS_close, fd);
}

long mz_files_close_range(struct mz_call *call)
{
    if (call->a[0] > call->a[1]) return -EINVAL;
    struct mz_descriptor_range parts[MZ_DESCRIPTOR_PARTS];
    int count = parts_of((unsigned)call->a[0], (unsigned)call->a[1], true, parts);
    long r = 0;
    fi.replaced = true;
    for (int i = 0; i < count && !r; i++)
        r = mz_sys(SYS_close_range, parts[i].first, parts[i].last, call->a[2]);
    return r;
}

/* dup, dup2, dup3: the new descriptor is in the group of the old one. */
long mz_files_dup(struct mz_call *call)
{
    int fd = (int)call->a[0];
    int like = use_of(fd) ? fd : -1;
    if (is_copy(fd)) return -EBADF;
    if (call->number != SYS_dup && is_copy((int)call->a[1]))
        mz_kernel_refuse(call, "a descriptor with this number", "take a smaller number");
    mz_files_use(call, fd);
    long r = mz_sys(call->number, call->a[0], call->a[1], call->a[2]);
    if (r < 0) return r;
    if (kept_index((int)r) >= 0) fi.replaced = true;
    mz_files_new((int)r, like, false);
    return r;
}

long mz_files_fcntl(struct mz_call *call)
{
    int fd = (int)call->a[0], what = (int)call->a[1];
    int like = use_of(fd) ? fd : -1;
    if (is_copy(fd)) return -EBADF;
    mz_files_use(call, fd);
    if (what == F_GETLK || what == F_OFD_GETLK) mz_snapshot_touch((void *)call->a[2], sizeof(struct flock));
    if (what == F_SETFL || what == F_SETFD) fi.replaced |= kept_index(fd) >= 0;
    rt.channel->in_kernel = 1;
    long r = mz_sys(SYS_fcntl, fd, what, call->a[2]);
    rt.channel->in_kernel = 0;
    if ((what == F_DUPFD || what == F_DUPFD_CLOEXEC) && r >= 0) mz_files_new((int)r, like, false);
    return r;
}

long mz_files_lseek(struct mz_call *call)
{
    mz_files_use(call, (int)call->a[0]);
    return mz_sys(SYS_lseek, call->a[0], call->a[1], call->a[2]);
}

/* ---- working directory, mask, limits ---- */

long mz_files_chdir(struct mz_call *call)
{
    if (fi.directory < 0)
        mz_kernel_refuse(call, "chdir from a directory that cannot be opened",
                         "start the program in another directory");
    fi.directory_changed = true;
    return mz_sys(call->number, call->a[0]);
}

long mz_files_umask(struct mz_call *call)
{
    long before = mz_sys(SYS_umask, call->a[0]);
    if (fi.mask < 0) fi.mask = (int)before;
    return before;
}

/* setrlimit(resource, new), prlimit64(pid, resource, new, old) */
long mz_files_prlimit(struct mz_call *call)
{
    bool full = call->number == SYS_prlimit64;
    uint64_t resource = call->a[full ? 1 : 0];
    const struct rlimit *new = (const void *)call->a[full ? 2 : 1];
    struct rlimit now;
    void *old = full ? (void *)call->a[3] : NULL;
    if (old) mz_kernel_will_write(call, old, sizeof now);
    if (new &&resource < MZ_LIMITS && mz_sys(SYS_getrlimit, resource, &now) == 0) {
        if (new->rlim_max != now.rlim_max)
            mz_kernel_refuse(call, "changing a hard limit", "change only the soft limit");
        if (!(fi.limits_changed >> resource & 1)) fi.limits[resource] = now;
        fi.limits_changed |= 1u << resource;
    }
    long r = mz_sys(call->number, call->a[0], call->a[1], call->a[2], call->a[3]);
    if (old && r == 0) mz_kernel_has_written(call, old, sizeof now);
    return r;
}
