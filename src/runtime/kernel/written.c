/* Asks the kernel which pages were written.
 *
 * Where the undo log compares pages (undo.c, checkpoint), the cost of a step would depend on the size of the
 * program's memory. With this file it depends on how much the step has written. userfaultfd write-protects a
 * region, and the kernel removes the protection of a page by itself (UFFD_FEATURE_WP_ASYNC): the first write
 * to the page, by the program or by a system call, takes a fault of about 1 us and sends no message. The
 * ioctl PAGEMAP_SCAN lists the unprotected pages and protects them again, in one call. Linux has both since
 * 6.7, and they need no privilege. Without them mz_written_next() returns -1, and the caller compares
 * everything.
 *
 * Invariant: a page of the range that is not in the list has not been written since the last call for that
 * page. A page without contents (never touched, or given back with MADV_DONTNEED) is not in the list: the
 * caller must know where such pages can be. mz_written_next() may list more pages than were written, never
 * fewer.
 *
 * Called by heap.c. The two descriptors are hidden from the program (files.c). */
#include "runtime/kernel/kernel.h"
#include "runtime/kernel/room.h"

#include <fcntl.h>
#include <linux/ioctl.h>
#include <linux/userfaultfd.h>

/* Defined here because the system's headers may be older than the kernel. */
#define USER_MODE_ONLY 1
#define WP_UNPOPULATED (UINT64_C(1) << 13)
#define WP_ASYNC       (UINT64_C(1) << 15)
#define WP_MATCHING    (UINT64_C(1) << 0) /* flags of PAGEMAP_SCAN */
#define CHECK_WPASYNC  (UINT64_C(1) << 1)
#define IS_WRITTEN     (UINT64_C(1) << 1) /* a category of pages */

struct scan {
    uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
    uint64_t inverted, mask, anyof_mask, return_mask;
};

#define SCAN _IOWR('f', 16, struct scan)

#define wr mz_kernel_room.written

static bool begin(void)
{
    struct uffdio_api api = {.api = UFFD_API, .features = WP_ASYNC | WP_UNPOPULATED};
    long fault = mz_sys(SYS_userfaultfd, O_CLOEXEC | USER_MODE_ONLY);
    if (mz_sys_failed(fault)) return false;
    long map = mz_sys(SYS_ioctl, fault, UFFDIO_API, &api)
                   ? -1
                   : mz_sys(SYS_open, "/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (mz_sys_failed(map)) {
        mz_sys(SYS_close, fault);
        return false;
    }
    wr.fault = rt.up.files_hide((int)fault);
    wr.map = rt.up.files_hide((int)map);
    return wr.fault >= 0 && wr.map >= 0;
}

bool mz_written_watch(const void *region, size_t size)
{
    struct uffdio_register r = {.range = {(uintptr_t)region, size}, .mode = UFFDIO_REGISTER_MODE_WP};
    if (!wr.tried) wr.works = begin();
    wr.tried = true;
    return wr.works && mz_sys(SYS_ioctl, wr.fault, UFFDIO_REGISTER, &r) == 0;
}

int mz_written_next(uint64_t *from, uint64_t to, struct mz_written *pages, int room)
{
    struct scan s = {.size = sizeof s,
                     .flags = WP_MATCHING | CHECK_WPASYNC,
                     .start = *from,
                     .end = to,
                     .vec = (uintptr_t)pages,
                     .vec_len = (uint64_t)room,
                     .mask = IS_WRITTEN,
                     .return_mask = IS_WRITTEN};
    long n = mz_sys(SYS_ioctl, wr.map, SCAN, &s);
    if (mz_sys_failed(n)) return -1;
    *from = s.walk_end;
    return (int)n;
}
