/* Puts program memory back to its first state before every execution.
 *
 * Program memory is:
 *   - the writable segments of the executable and of every loaded library except ours, without the part that
 *     is read-only after relocation. The loader is included, so the effects of dlopen are undone;
 *   - the boot arena of the heap;
 *   - memory that constructors mapped;
 *   - a copy of the arguments and the environment.
 * All of it is write-protected before main starts for the first time. The first write to a page faults, once
 * in the whole run: the fault handler saves the page and makes it writable for good. From then on the page is
 * copied back before every execution. Thread-local storage is copied back for every thread that was ever
 * used.
 *
 * A system call does not fault on a protected page but fails with EFAULT. So kernel.c calls mz_snapshot_touch
 * first for memory that a system call writes.
 *
 * Pages that become writable one by one split the mapping, and the kernel allows only about 65,000 mappings.
 * So if a program writes to very many pages, whole runs of pages become writable at a time. */
#define _GNU_SOURCE
#include "base/region.h"
#include "runtime/memory/memory.h"
#include "runtime/rewind/rewind.h"
#include "runtime/rewind/room.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE  ((size_t)4096)
#define DIRTY (1u << 20)
#define MANY  8192u /* from this number of dirty pages on ... */
#define RUN   64u   /* ... runs of this many pages are saved together */

#define sn mz_rewind_room.snapshot

static void add_segment(uintptr_t start, uintptr_t end)
{
    start = (start + PAGE - 1) & ~(PAGE - 1);
    end = (end + PAGE - 1) & ~(PAGE - 1);
    if (start >= end) return;
    MZ_ASSERT(sn.segment_count < MZ_SNAPSHOT_SEGMENTS);
    sn.segments[sn.segment_count].start = start;
    sn.segments[sn.segment_count].end = end;
    sn.segments[sn.segment_count].dirty = mz_region_reserve((end - start) / PAGE);
    MZ_ASSERT(sn.segments[sn.segment_count].dirty != NULL);
    sn.segment_count++;
}

static bool contains(const struct dl_phdr_info *info, uintptr_t address)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && address >= start && address < start + p->p_memsz) return true;
    }
    return false;
}

static int add_module(struct dl_phdr_info *info, size_t size, void *data)
{
    uintptr_t relro_end = 0;
    (void)size, (void)data;
    if (contains(info, (uintptr_t)&rt)) return 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_GNU_RELRO)
            relro_end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_W)) continue;
        uintptr_t start = info->dlpi_addr + p->p_vaddr, end = start + p->p_memsz;
        if (relro_end > start && relro_end <= end + PAGE) start = relro_end & ~(PAGE - 1);
        add_segment(start & ~(PAGE - 1), end);
    }
    return 0;
}

/* Find the lowest thread-local block of the calling thread, in two passes over the modules. All static blocks
 * are between it and the thread pointer. The blocks of modules that constructors loaded with dlopen are
 * elsewhere, on the heap. */
static int static_tls_size(struct dl_phdr_info *info, size_t size, void *total)
{
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_TLS)
            *(size_t *)total += info->dlpi_phdr[i].p_memsz + info->dlpi_phdr[i].p_align + 64;
    return 0;
}

static int lowest_tls(struct dl_phdr_info *info, size_t size, void *lowest)
{
    (void)size;
    uintptr_t block = (uintptr_t)info->dlpi_tls_data, fs = rt.slots[0].fs;
    if (info->dlpi_tls_modid && (block >= fs || fs - block > sn.most_tls)) sn.dtv_changes = true;
    if (block && block < fs && fs - block <= sn.most_tls && block < *(uintptr_t *)lowest)
        *(uintptr_t *)lowest = block;
    return 0;
}

#define DTV_ENTRY 16u

static uint64_t *dtv_of(size_t slot) { return (uint64_t *)rt.slots[slot].fs + 1; }

static size_t dtv_size(size_t slot)
{
    return (*(const uint64_t *)(*dtv_of(slot) - DTV_ENTRY) + 2) * DTV_ENTRY;
}

static void save_dtv(size_t slot, char *room)
{
    uint64_t at = *dtv_of(slot) - DTV_ENTRY;
    sn.dtv[slot].at = at;
    sn.dtv[slot].size = dtv_size(slot);
    sn.dtv[slot].saved = room;
    mz_raw_memcpy(sn.dtv[slot].saved, (const void *)at, sn.dtv[slot].size);
}

static void restore_dtv(size_t slot)
{
    *dtv_of(slot) = sn.dtv[slot].at + DTV_ENTRY;
    mz_raw_memcpy((void *)sn.dtv[slot].at, sn.dtv[slot].saved, sn.dtv[slot].size);
}

/* libc's block above the thread pointer has two adjacent pointers to the buffers of strerror and strsignal,
 * which are on the heap. The block also holds data of the kernel, so only these two pointers are cleared. To
 * find them, call strerror and search the block for its result. */
static void find_thread_buffers(void)
{
    const uint32_t *size = dlsym(RTLD_DEFAULT, "_thread_db_sizeof_pthread");
    const char *text = strerror(1 << 24);
    char **block = (char **)rt.slots[0].fs;
    for (size_t i = 1; size && i + 1 < *size / sizeof *block; i++) {
        if (block[i] != text) continue;
        block[i] = NULL;
        sn.thread_buffers = (i - 1) * sizeof *block;
        return;
    }
}

static void clear_thread_buffers(size_t slot)
{
    if (sn.thread_buffers)
        mz_raw_memset((char *)rt.slots[slot].fs + sn.thread_buffers, 0, 2 * sizeof(char *));
}

/* Return how many of the first `threads` threads have storage of their own (fiber.c). */
static size_t with_storage(size_t threads) { return rt.switch_fs ? threads : 1; }

/* Save the storage of these threads, which no thread has used yet. Only then, because it can be large. */
void mz_snapshot_threads(size_t first, size_t end)
{
    for (size_t s = first; s < with_storage(end); s++)
        mz_raw_memcpy(sn.tls_saved + s * rt.tls_size, (char *)rt.slots[s].fs - rt.tls_size, rt.tls_size);
}

static void save_tls(void)
{
    find_thread_buffers();
    uintptr_t lowest = rt.slots[0].fs;
    dl_iterate_phdr(static_tls_size, &sn.most_tls);
    dl_iterate_phdr(lowest_tls, &lowest);
    errno = 0; /* the setup may have changed it */
    rt.tls_size = (rt.slots[0].fs - lowest + 63) & ~(size_t)63;
    size_t size = rt.tls_size * MZ_SLOTS;
    MZ_ASSERT(rt.switch_fs || rt.tls_size + PAGE <= MZ_NAME_ROOM);
    for (size_t s = 0; s < with_storage(MZ_SLOTS); s++) size += dtv_size(s);
    sn.tls_saved = mz_region_reserve(size);
    MZ_ASSERT(sn.tls_saved != NULL);
    char *room = sn.tls_saved + rt.tls_size * MZ_SLOTS;
    for (size_t s = 0; s < with_storage(MZ_SLOTS); s++) {
        save_dtv(s, room);
        room += sn.dtv[s].size;
    }
    mz_snapshot_threads(0, rt.slots_known);
}

/* Copy the arguments or the environment into program memory. */
static char **copy_vector(char **from, char **text, char ***slots)
{
    char **to = *slots;
    int n = 0;
    for (; from[n]; n++) {
        size_t length = strlen(from[n]) + 1;
        mz_raw_memcpy(*text, from[n], length);
        to[n] = *text;
        *text += length;
    }
    to[n] = NULL;
    *slots = to + n + 1;
    return to;
}

static size_t vector_size(char **v)
{
    size_t size = sizeof *v;
    for (int i = 0; v[i]; i++) size += sizeof *v + strlen(v[i]) + 1;
    return size;
}

extern char **environ;

static void copy_arguments(void)
{
    size_t pointers = 2 * sizeof(char *),
           size = (vector_size(rt.argv) + vector_size(rt.envp) + PAGE) & ~(PAGE - 1);
    char *block = mz_region_reserve(size);
    MZ_ASSERT(block != NULL);
    for (int i = 0; rt.argv[i]; i++) pointers += sizeof(char *);
    for (int i = 0; rt.envp[i]; i++) pointers += sizeof(char *);
    char **slots = (char **)(void *)block, *text = block + pointers;
    rt.argv = copy_vector(rt.argv, &text, &slots);
    rt.envp = copy_vector(rt.envp, &text, &slots);
    environ = rt.envp;
    add_segment((uintptr_t)block, (uintptr_t)block + size);
    sn.arguments = (uintptr_t)block;
    sn.arguments_size = size;
}

void mz_snapshot_arguments(uint64_t *start, uint64_t *size)
{
    *start = sn.arguments;
    *size = sn.arguments_size;
}

void mz_snapshot_init(void)
{
    char *boot;
    size_t boot_size = mz_heap_boot(&boot);
    sn.pages = mz_region_reserve(DIRTY * sizeof *sn.pages);
    sn.saved = mz_region_reserve(DIRTY * PAGE);
    sn.mirror = mz_region_reserve(DIRTY * PAGE);
    MZ_ASSERT(sn.pages && sn.saved && sn.mirror);
    copy_arguments();
    dl_iterate_phdr(add_module, NULL);
    if (boot_size) add_segment((uintptr_t)boot, (uintptr_t)boot + boot_size);
    rt.up.maps_early(add_segment);
    save_tls();
    for (uint32_t i = 0; i < sn.segment_count; i++)
        mprotect((void *)sn.segments[i].start, sn.segments[i].end - sn.segments[i].start, PROT_READ);
}

/* Save a page that is about to be written for the first time. */
static void save(uint32_t segment, size_t n)
{
    char *page = (char *)sn.segments[segment].start + n * PAGE,
         *saved = sn.saved + (size_t)sn.page_count * PAGE;
    sn.segments[segment].dirty[n] = 1;
    mz_raw_memcpy(saved, page, PAGE);
    sn.pages[sn.page_count].page = page;
    sn.pages[sn.page_count++].saved = saved;
}

/* Make the page writable; with many dirty pages, the run of pages around it. Return false if there is no room
 * to save them. */
static bool unprotect(uint32_t segment, size_t n)
{
    size_t pages = (sn.segments[segment].end - sn.segments[segment].start) / PAGE;
    size_t first = sn.page_count < MANY ? n : n / RUN * RUN,
           last = sn.page_count < MANY ? n : first + RUN - 1;
    if (last >= pages) last = pages - 1;
    if (sn.page_count + (last - first) >= DIRTY) return false;
    for (size_t i = first; i <= last; i++)
        if (!sn.segments[segment].dirty[i]) save(segment, i);
    return mprotect((char *)sn.segments[segment].start + first * PAGE, (last - first + 1) * PAGE,
                    PROT_READ | PROT_WRITE) == 0;
}

/* If the address is in a page that the snapshot protects, save the page, make it writable and return true:
 * the write can go on. */
bool mz_snapshot_fault(uint64_t address)
{
    for (uint32_t i = 0; i < sn.segment_count; i++) {
        if (address < sn.segments[i].start || address >= sn.segments[i].end) continue;
        size_t n = (address - sn.segments[i].start) / PAGE;
        return !sn.segments[i].dirty[n] && unprotect(i, n);
    }
    return false;
}

void mz_snapshot_touch(const void *address, size_t size)
{
    uintptr_t start = (uintptr_t)address, end = start + size < start ? ~(uintptr_t)0 : start + size;
    for (uint32_t i = 0; size && i < sn.segment_count; i++) {
        uintptr_t from = start > sn.segments[i].start ? start : sn.segments[i].start;
        uintptr_t to = end < sn.segments[i].end ? end : sn.segments[i].end;
        for (from &= ~(PAGE - 1); from < to; from += PAGE) mz_snapshot_fault(from);
    }
}

#define LARGE ((size_t)64 << 20) /* larger segments would take too long to put back each time */

void mz_snapshot_touch_all(void)
{
    for (uint32_t i = 0; i < sn.segment_count; i++) {
        size_t size = sn.segments[i].end - sn.segments[i].start;
        if (size <= LARGE) mz_snapshot_touch((const void *)sn.segments[i].start, size);
    }
}

bool mz_snapshot_contains(uint64_t address, size_t size)
{
    for (uint32_t i = 0; i < sn.segment_count; i++)
        if (address >= sn.segments[i].start && address + size <= sn.segments[i].end) return true;
    return false;
}

/* Fill the mirrors of pages that were written for the first time in this step: at all nodes so far they were
 * as saved. */
static void mirror_new_pages(void)
{
    for (; sn.mirrored < sn.page_count; sn.mirrored++)
        mz_raw_memcpy(sn.mirror + sn.mirrored * PAGE, sn.pages[sn.mirrored].saved, PAGE);
}

size_t mz_snapshot_size(void) { return sn.page_count * PAGE; }

/* Fill all mirrors, after program memory was put back. */
void mz_snapshot_mirror(void)
{
    sn.mirrored = 0;
    mirror_new_pages();
}

void mz_snapshot_compare(void (*compare)(void *now, void *mirror, size_t size))
{
    mirror_new_pages();
    for (uint32_t i = 0; i < sn.page_count; i++) compare(sn.pages[i].page, sn.mirror + i * PAGE, PAGE);
}

void mz_snapshot_compare_start(void (*compare)(void *now, void *saved, size_t size))
{
    for (uint32_t i = 0; i < sn.page_count; i++) compare(sn.pages[i].page, sn.pages[i].saved, PAGE);
}

/* Call `look` for each page that differs from the start. */
void mz_snapshot_changed(void (*look)(const void *p, size_t size))
{
    for (uint32_t i = 0; i < sn.page_count; i++)
        if (mz_raw_memcmp(sn.pages[i].page, sn.pages[i].saved, PAGE)) look(sn.pages[i].page, PAGE);
}

/* Call `look` for all memory of the snapshot that the program may have changed, except thread-local
 * storage. */
void mz_snapshot_scan(void (*look)(const void *from, const void *to))
{
    for (uint32_t i = 0; i < sn.page_count; i++) look(sn.pages[i].page, sn.pages[i].page + PAGE);
}

void mz_snapshot_restore(void)
{
    size_t threads = with_storage(rt.slots_known);
    for (uint32_t i = 0; i < sn.page_count; i++) mz_raw_memcpy(sn.pages[i].page, sn.pages[i].saved, PAGE);
    for (size_t s = 0; s < threads; s++) {
        mz_raw_memcpy((char *)rt.slots[s].fs - rt.tls_size, sn.tls_saved + s * rt.tls_size, rt.tls_size);
        if (rt.switch_fs) clear_thread_buffers(s);
    }
    for (size_t s = 0; (rt.modules_changed || sn.dtv_changes) && s < threads; s++) restore_dtv(s);
    rt.modules_changed = false;
}
