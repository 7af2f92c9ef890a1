/* Program memory, and how it goes back to its first state before every execution.
 *
 * Program memory is: the writable segments of the executable and of every loaded library but ours and the
 * loader's, past their read-only-after-relocation parts; the boot arena of the heap; the copy of arguments
 * and environment. All of it is write-protected when main is about to start for the first time. The first
 * write to a page faults once in the whole run: the page is saved, made writable for good, and from then on
 * copied back before every execution. Thread-local storage is copied back for every thread that was ever
 * used.
 *
 * The kernel does not fault on protected pages but answers EFAULT: what is handed to system calls for writing
 * is touched first (mz_snapshot_touch). */
#define _GNU_SOURCE
#include "runtime.h"

#include "../base/region.h"

#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE     ((size_t)4096)
#define SEGMENTS 256
#define DIRTY    (1u << 20)

static struct {
    struct {
        uintptr_t start, end;
        uint8_t *dirty; /* one byte per page */
    } segments[SEGMENTS];
    uint32_t segment_count;
    struct {
        char *page, *saved;
    } * pages;
    uint32_t page_count;
    char *saved; /* copies, handed out one after the other */
    char *tls_saved;
} sn;

static void add_segment(uintptr_t start, uintptr_t end)
{
    start = (start + PAGE - 1) & ~(PAGE - 1);
    end = (end + PAGE - 1) & ~(PAGE - 1);
    if (start >= end) return;
    MZ_ASSERT(sn.segment_count < SEGMENTS);
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

static bool is_loader(const char *name)
{
    return strstr(name, "/ld-linux") || strstr(name, "/ld64") || strstr(name, "linux-vdso");
}

static int add_module(struct dl_phdr_info *info, size_t size, void *data)
{
    uintptr_t relro_end = 0;
    (void)size, (void)data;
    if (contains(info, (uintptr_t)&rt) || is_loader(info->dlpi_name)) return 0;
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

/* The lowest thread-local block of the calling thread: all static blocks lie between it and the thread
 * pointer. */
static int lowest_tls(struct dl_phdr_info *info, size_t size, void *lowest)
{
    (void)size;
    uintptr_t block = (uintptr_t)info->dlpi_tls_data, fs = rt.slots[0].fs;
    if (block && block < fs && fs - block < (1u << 20) && block < *(uintptr_t *)lowest)
        *(uintptr_t *)lowest = block;
    return 0;
}

static void save_tls(void)
{
    uintptr_t lowest = rt.slots[0].fs;
    dl_iterate_phdr(lowest_tls, &lowest);
    errno = 0; /* whatever happened while we set things up */
    rt.tls_size = (rt.slots[0].fs - lowest + 63) & ~(size_t)63;
    sn.tls_saved = mz_region_reserve(rt.tls_size * MZ_SLOTS + 1);
    MZ_ASSERT(sn.tls_saved != NULL);
    for (size_t s = 0; s < MZ_SLOTS; s++)
        mz_raw_memcpy(sn.tls_saved + s * rt.tls_size, (char *)rt.slots[s].fs - rt.tls_size, rt.tls_size);
}

/* Arguments and environment, copied to where they are program memory like any other. */
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
}

void mz_snapshot_init(void)
{
    char *boot;
    size_t boot_size = mz_heap_boot(&boot);
    sn.pages = mz_region_reserve(DIRTY * sizeof *sn.pages);
    sn.saved = mz_region_reserve(DIRTY * PAGE);
    MZ_ASSERT(sn.pages && sn.saved);
    copy_arguments();
    dl_iterate_phdr(add_module, NULL);
    if (boot_size) add_segment((uintptr_t)boot, (uintptr_t)boot + boot_size);
    save_tls();
    for (uint32_t i = 0; i < sn.segment_count; i++)
        mprotect((void *)sn.segments[i].start, sn.segments[i].end - sn.segments[i].start, PROT_READ);
}

/* A write to a protected page of ours? Then save it and let the write go on. */
bool mz_snapshot_fault(uint64_t address)
{
    for (uint32_t i = 0; i < sn.segment_count; i++) {
        if (address < sn.segments[i].start || address >= sn.segments[i].end) continue;
        size_t n = (address - sn.segments[i].start) / PAGE;
        if (sn.segments[i].dirty[n] || sn.page_count == DIRTY) return false;
        sn.segments[i].dirty[n] = 1;
        char *page = (char *)sn.segments[i].start + n * PAGE;
        char *saved = sn.saved + (size_t)sn.page_count * PAGE;
        mz_raw_memcpy(saved, page, PAGE);
        sn.pages[sn.page_count].page = page;
        sn.pages[sn.page_count++].saved = saved;
        return mprotect(page, PAGE, PROT_READ | PROT_WRITE) == 0;
    }
    return false;
}

void mz_snapshot_touch(void *address, size_t size)
{
    if (!size) return;
    for (uintptr_t p = (uintptr_t)address & ~(PAGE - 1); p < (uintptr_t)address + size; p += PAGE)
        mz_snapshot_fault(p);
}

void mz_snapshot_restore(void)
{
    for (uint32_t i = 0; i < sn.page_count; i++) mz_raw_memcpy(sn.pages[i].page, sn.pages[i].saved, PAGE);
    for (size_t s = 0; s < (rt.switch_fs ? rt.slots_known : 1); s++)
        mz_raw_memcpy((char *)rt.slots[s].fs - rt.tls_size, sn.tls_saved + s * rt.tls_size, rt.tls_size);
}
