/* The kernel's state for the program, as a part of the identity of a state (state/state.c).
 *
 * A system call that changes the kernel's state makes the program's state unique (mz_state_poison): no later
 * state of the execution ever matches another state. That is too coarse for programs that read files. As long
 * as the program makes only these calls, this file knows the kernel's state exactly:
 *
 *   open, openat            for reading, of a regular file or a directory (not in /proc or /sys)
 *   read, getdents64, lseek pread64, fstat, close       of such a descriptor, by the thread that opened it
 *   stat and the like       by a path
 *   mmap                    private and only for reading, of such a descriptor
 *   munmap                  of exactly such a mapping
 *
 * Then the kernel's state is: for each descriptor its file, flags and position; for each mapping its file,
 * its offset in the file and its size; for each thread the address of its next mapping (maps.c). Each of
 * these numbers is a term of the sum in state.c. Every other call that changes something makes the state
 * unique.
 *
 * Why this is sound: If two states of a program have equal terms, the kernel treats their descriptors and
 * mappings alike. Only the program may change the files while the search runs (LIMITS.md), and a call by
 * which the program changes a file makes the state unique. A mapping that cannot be written has the contents
 * of the file. The identity does not contain which thread used a descriptor last (files.c), so the use of a
 * descriptor by a second thread makes the state unique. Comparing pages finds what the calls write to memory,
 * so this file works only where pages are compared (MZ_UNDO_PAGES).
 *
 * These calls remain barriers (mz_undo_barrier): the search reaches nodes before them by running again. So
 * the data of this file is never rolled back, only cleared before an execution from the start. Called by
 * kernel.c and state.c. */
#define _GNU_SOURCE
#include "runtime/kernel/kernel.h"
#include "runtime/kernel/kernel_state.h"
#include "runtime/kernel/room.h"
#include "runtime/rewind/rewind.h"
#include "runtime/state/hash.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <linux/magic.h>

#define ks mz_kernel_room.state

void mz_kernel_state_reset(void)
{
    if (!ks.used) return;
    mz_raw_memset(&ks, 0, sizeof ks);
}

/* Places in the state that differ from all addresses of the program by their highest bits. */
#define FILE_PLACE(fd) (UINT64_C(1) << 63 | (uint64_t)(fd) << 3)
#define MAP_PLACE(at)  (UINT64_C(3) << 62 | (uint64_t)(at) >> 8)
#define NEXT_PLACE(s)  (UINT64_C(5) << 61 | (uint64_t)(s))

static void count(const struct mz_kernel_item *i, bool now)
{
    for (unsigned t = 0; rt.hashing && t < MZ_KERNEL_TERMS; t++)
        mz_state_word(i->place + t, i->terms[t], now);
}

static bool reads_by_path(const struct mz_call *call)
{
    switch (call->number) {
    case SYS_stat:
    case SYS_lstat:
    case SYS_access:
    case SYS_readlink:
    case SYS_getcwd:
        return true;
    case SYS_newfstatat:
    case SYS_statx:
    case SYS_faccessat:
    case SYS_faccessat2:
    case SYS_readlinkat:
        return (int)call->a[0] == AT_FDCWD;
    default:
        return false;
    }
}

static uint64_t open_flags(const struct mz_call *call) { return call->a[call->number == SYS_open ? 1 : 2]; }

static bool opens_for_reading(const struct mz_call *call)
{
    const uint64_t harmless = O_CLOEXEC | O_DIRECTORY | O_NONBLOCK | O_NOFOLLOW | O_LARGEFILE | 0100000;
    if (call->number != SYS_open && (call->number != SYS_openat || (int)call->a[0] != AT_FDCWD)) return false;
    return !(open_flags(call) & ~harmless); /* O_RDONLY is 0 */
}

static struct mz_kernel_item *file_of(uint64_t fd)
{
    struct mz_kernel_item *f = fd < MZ_DESCRIPTORS ? &ks.files[fd] : NULL;
    return f && f->user == rt.self + 1 ? f : NULL;
}

static struct mz_kernel_item *mapping_at(uint64_t at)
{
    for (struct mz_kernel_item *m = ks.mappings; m < ks.mappings + MZ_KNOWN_MAPPINGS; m++)
        if (m->user && m->place == MAP_PLACE(at)) return m;
    return NULL;
}

static bool uses_file(const struct mz_call *call)
{
    switch (call->number) {
    case SYS_read:
    case SYS_getdents64:
    case SYS_lseek:
    case SYS_pread64:
    case SYS_fstat:
    case SYS_close:
        return file_of(call->a[0]) != NULL;
    case SYS_newfstatat: /* fstat() of newer versions of glibc */
        if (!(call->a[3] & AT_EMPTY_PATH) || !file_of(call->a[0])) return false;
        return !call->a[1] || !*(const char *)call->a[1];
    default:
        return false;
    }
}

static bool maps_for_reading(const struct mz_call *call)
{
    return call->number == SYS_mmap && call->a[2] == PROT_READ &&
           !(call->a[3] & ~(uint64_t)(MAP_PRIVATE | MAP_NORESERVE | MAP_POPULATE)) && file_of(call->a[4]);
}

static bool unmaps(const struct mz_call *call)
{
    const struct mz_kernel_item *m = call->number == SYS_munmap ? mapping_at(call->a[0]) : NULL;
    return m && m->terms[3] == call->a[1];
}

bool mz_kernel_state_knows(const struct mz_call *call)
{
    if (rt.undo != MZ_UNDO_PAGES) return false;
    return reads_by_path(call) || opens_for_reading(call) || uses_file(call) || maps_for_reading(call) ||
           unmaps(call);
}

/* ---- after the call ---- */

static void opened(const struct mz_call *call, uint64_t fd)
{
    struct stat s;
    struct statfs fs;
    bool known = fd < MZ_DESCRIPTORS && mz_sys(SYS_fstat, fd, &s) == 0 && mz_sys(SYS_fstatfs, fd, &fs) == 0;
    if (known) known = (S_ISREG(s.st_mode) || S_ISDIR(s.st_mode));
    if (known) known = fs.f_type != PROC_SUPER_MAGIC && fs.f_type != SYSFS_MAGIC;
    if (!known) {
        mz_kernel_state_unknown();
        return;
    }
    struct mz_kernel_item *f = &ks.files[fd];
    *f = (struct mz_kernel_item){
        FILE_PLACE(fd), {s.st_dev, s.st_ino, open_flags(call), 0}, (uint8_t)(rt.self + 1)};
    count(f, true);
}

static void moved(uint64_t fd)
{
    struct mz_kernel_item *f = &ks.files[fd];
    count(f, false);
    f->terms[3] = (uint64_t)mz_sys(SYS_lseek, fd, 0, SEEK_CUR);
    count(f, true);
}

static void forget(struct mz_kernel_item *i)
{
    count(i, false);
    i->user = 0;
}

static void next_mapping(void)
{
    uint64_t place = NEXT_PLACE(rt.self), at = mz_kernel_room.maps.next[rt.self];
    if (rt.hashing && ks.next[rt.self]) mz_state_word(place, ks.next[rt.self], false);
    if (rt.hashing) mz_state_word(place, at, true);
    ks.next[rt.self] = at;
}

static void mapped(const struct mz_call *call, uint64_t at)
{
    struct mz_kernel_item *m = ks.mappings;
    const struct mz_kernel_item *f = &ks.files[call->a[4]];
    while (m < ks.mappings + MZ_KNOWN_MAPPINGS && m->user) m++;
    if (m == ks.mappings + MZ_KNOWN_MAPPINGS) mz_undo_give_up(); /* munmap would not find it */
    next_mapping();
    if (m == ks.mappings + MZ_KNOWN_MAPPINGS) return;
    *m = (struct mz_kernel_item){MAP_PLACE(at), {f->terms[0], f->terms[1], call->a[5], call->a[1]}, f->user};
    count(m, true);
}

void mz_kernel_state_after(const struct mz_call *call, long result)
{
    ks.used = true;
    if (mz_sys_failed(result)) return;
    switch (call->number) {
    case SYS_open:
    case SYS_openat:
        opened(call, (uint64_t)result);
        break;
    case SYS_read:
    case SYS_getdents64:
    case SYS_lseek:
        moved(call->a[0]);
        break;
    case SYS_close:
        forget(&ks.files[call->a[0]]);
        break;
    case SYS_mmap:
        mapped(call, (uint64_t)result);
        break;
    case SYS_munmap:
        forget(mapping_at(call->a[0]));
        break;
    default:
        break;
    }
}

void mz_kernel_state_unknown(void)
{
    if (rt.hashing) mz_state_poison();
}

/* Write the kernel's state with `write`, for --state-match=exact. */
void mz_kernel_state_each(void (*write)(const void *p, size_t size))
{
    for (unsigned i = 0; ks.used && i < MZ_DESCRIPTORS; i++)
        if (ks.files[i].user) write(&ks.files[i], sizeof ks.files[i]);
    for (unsigned i = 0; ks.used && i < MZ_KNOWN_MAPPINGS; i++)
        if (ks.mappings[i].user) write(&ks.mappings[i], sizeof ks.mappings[i]);
    if (ks.used) write(ks.next, sizeof ks.next);
}
