/* Who owns an address: this library, libc and the loader, or a module with our hooks?
 *
 * mz_modules_init finds this library. load.c fills in the list of modules in the channel. Any file may
 * ask. */
#define _GNU_SOURCE
#include "runtime/core/room.h"

#include <link.h>
#include <sys/auxv.h>

#define mo mz_core_room.modules

bool mz_is_ours(uint64_t pc) { return pc >= mo.our_start && pc < mo.our_end; }

void mz_our_code(uint64_t *start, uint64_t *end)
{
    *start = mo.our_start;
    *end = mo.our_end;
}

/* Fast, because mostly the executable contains pc, and it is the first module. */
bool mz_is_instrumented(uint64_t pc)
{
    const struct mz_module *m = rt.channel->modules;
    for (uint32_t i = 0; i < rt.channel->module_count; i++)
        if (m[i].instrumented && pc >= m[i].start && pc < m[i].end) return true;
    return false;
}

bool mz_module_contains(const struct dl_phdr_info *info, uintptr_t address)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && address >= start && address < start + p->p_memsz) return true;
    }
    return false;
}

bool mz_is_system(const struct dl_phdr_info *info)
{
    if (!mo.libc) {
        mo.libc = (uintptr_t)mz_next_symbol("__libc_start_main");
        mo.loader = getauxval(AT_BASE);
        mo.vdso = getauxval(AT_SYSINFO_EHDR);
    }
    return mz_module_contains(info, (uintptr_t)&rt) || mz_module_contains(info, mo.libc) ||
           (mo.loader && mz_module_contains(info, mo.loader)) ||
           (mo.vdso && mz_module_contains(info, mo.vdso));
}

void mz_our_data(uint64_t *start, uint64_t *end)
{
    *start = mo.data_start;
    *end = mo.data_end;
}

static void find_data(const struct dl_phdr_info *info)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uint64_t from = info->dlpi_addr + p->p_vaddr;
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_W)) continue;
        if (!mo.data_start || from < mo.data_start) mo.data_start = from;
        if (from + p->p_memsz > mo.data_end) mo.data_end = from + p->p_memsz;
    }
}

static int look_for_ourselves(struct dl_phdr_info *info, size_t size, void *data)
{
    uint64_t start = ~0ull, end = 0;
    (void)size, (void)data;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uint64_t from = info->dlpi_addr + p->p_vaddr;
        if (p->p_type != PT_LOAD) continue;
        if (from < start) start = from;
        if (from + p->p_memsz > end) end = from + p->p_memsz;
    }
    if ((uintptr_t)&rt < start || (uintptr_t)&rt >= end) return 0;
    mo.our_start = start;
    mo.our_end = end;
    find_data(info);
    return 1;
}

void mz_modules_init(void) { dl_iterate_phdr(look_for_ourselves, NULL); }
