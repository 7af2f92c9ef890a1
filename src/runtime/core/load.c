/* The loaded modules: list them in the channel, and learn from each module what the program uses.
 *
 * Each module has imported functions (hooks/imports.c sets rt.uses from them by libc.def), notes of our
 * compiler plug-in (notes.c) and code (scan.c). Called before main, and again after an execution that loaded
 * a module. */
#define _GNU_SOURCE
#include "runtime/core/load.h"
#include "runtime/core/runtime.h"
#include "runtime/hooks/hooks.h"
#include "runtime/hooks/imports.h"
#include "runtime/kernel/kernel.h"
#include "runtime/loops/loops.h"

#include <link.h>
#include <string.h>

static void look_at_import(const struct dl_phdr_info *info, const ElfW(Rela) * r, const char *name,
                           struct mz_module *m)
{
    unsigned type = ELF64_R_TYPE(r->r_info);
    uint64_t address = info->dlpi_addr + r->r_offset;
    struct mz_import import = {.name = name, .module = m, .by_call = type == R_X86_64_JUMP_SLOT};
    if (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT || type == R_X86_64_64)
        import.address = (const void **)address;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + p->p_vaddr;
        /* The loader protects whole pages. */
        if (p->p_type == PT_GNU_RELRO && address >= (start & ~4095ull) &&
            address < ((start + p->p_memsz) & ~4095ull))
            import.read_only = true;
    }
    mz_imports_look(&import);
}

/* Look at the symbols that a module imports. The dynamic symbol table does not tell its length, but every
 * imported symbol that the module uses has a relocation. */
static void look_at_undefined(const struct dl_phdr_info *info, const ElfW(Dyn) * dyn, struct mz_module *m)
{
    const ElfW(Sym) *symbols = NULL;
    const char *names = NULL;
    const ElfW(Rela) * tables[2] = {NULL, NULL};
    size_t sizes[2] = {0, 0};
    for (; dyn->d_tag != DT_NULL; dyn++) {
        uintptr_t p = dyn->d_un.d_ptr < info->dlpi_addr ? info->dlpi_addr + dyn->d_un.d_ptr : dyn->d_un.d_ptr;
        if (dyn->d_tag == DT_SYMTAB) symbols = (const void *)p;
        if (dyn->d_tag == DT_STRTAB) names = (const void *)p;
        if (dyn->d_tag == DT_RELA) tables[0] = (const void *)p;
        if (dyn->d_tag == DT_JMPREL) tables[1] = (const void *)p;
        if (dyn->d_tag == DT_RELASZ) sizes[0] = dyn->d_un.d_val / sizeof *tables[0];
        if (dyn->d_tag == DT_PLTRELSZ) sizes[1] = dyn->d_un.d_val / sizeof *tables[1];
    }
    for (int t = 0; symbols && names && t < 2; t++)
        for (size_t i = 0; tables[t] && i < sizes[t]; i++) {
            const ElfW(Sym) *symbol = &symbols[ELF64_R_SYM(tables[t][i].r_info)];
            if (symbol != symbols && symbol->st_shndx == SHN_UNDEF)
                look_at_import(info, &tables[t][i], names + symbol->st_name, m);
        }
}

static void note_module(const char *path)
{
    char text[MZ_TEXT], *end = text + sizeof text, *t = text;
    t = mz_text_add(t, end, path);
    mz_text_add(t, end, " was not compiled with mazurka cc: what it does to shared memory is not seen");
    mz_unseen(text);
}

static bool is_known(const struct dl_phdr_info *info)
{
    const struct mz_channel *c = rt.channel;
    for (uint32_t i = 0; i < c->module_count; i++)
        if (mz_module_contains(info, c->modules[i].start) ||
            (info->dlpi_addr && info->dlpi_addr == c->modules[i].bias))
            return true;
    return false;
}

static int add_module(struct dl_phdr_info *info, size_t size, void *data)
{
    struct mz_channel *c = rt.channel;
    uint64_t start = ~0ull, end = 0, tls = (uintptr_t)info->dlpi_tls_data, fs = rt.slots[0].fs;
    const ElfW(Dyn) *dyn = NULL;
    bool plugin = false; /* the module has notes about its inline assembly */
    (void)size, (void)data;
    if (is_known(info)) return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uint64_t from = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_TLS && !mz_is_system(info)) rt.switch_fs = true;
        if (p->p_type == PT_DYNAMIC) dyn = (const void *)from;
        if (p->p_type == PT_NOTE) plugin |= mz_notes_read((const void *)from, p->p_filesz);
        if (p->p_type != PT_LOAD) continue;
        if (from < start) start = from;
        if (from + p->p_memsz > end) end = from + p->p_memsz;
    }
    if (c->module_count == MZ_MAX_MODULES) return 0;
    struct mz_module *m = &c->modules[c->module_count++];
    m->bias = info->dlpi_addr;
    m->start = start;
    if (c->module_count == 1) rt.program_start = start, rt.program_end = end;
    m->end = end;
    if (tls && tls < fs && fs - tls < (1u << 20)) m->tls_offset = (uint32_t)(fs - tls);
    if (info->dlpi_name[0]) {
        mz_text_copy(m->path, sizeof m->path, info->dlpi_name);
    } else {
        long n = mz_sys(SYS_readlink, "/proc/self/exe", m->path, sizeof m->path - 1);
        m->path[n > 0 ? n : 0] = 0;
    }
    if (dyn && !mz_is_system(info)) look_at_undefined(info, dyn, m);
    for (int i = 0; m->instrumented && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && p->p_flags & PF_X)
            mz_scan_code(info, (const unsigned char *)(info->dlpi_addr + p->p_vaddr), p->p_filesz, plugin);
    }
    c->instrumented |= m->instrumented;
    if (!m->instrumented && !mz_is_system(info) && !mz_imports_harmless_library(m->path)) {
        mz_spin_forbid(m->path);
        rt.writes_unknown = true;
        note_module(m->path);
    }
    return 0;
}

void mz_load_init(void) { dl_iterate_phdr(add_module, NULL); }

/* Add the modules that this execution loaded; reports need them. Read the loader's list without its lock,
 * because a stopped thread may hold the lock. */
void mz_os_ended(void)
{
    if (!rt.modules_changed) return;
    MZ_ASSERT(rt.switch_fs); /* a program that can load modules has it set */
    for (const struct link_map *l = _r_debug.r_map; l; l = l->l_next) {
        const ElfW(Ehdr) *e = (const void *)l->l_addr;
        if (!l->l_addr || !mz_maps_contains(l->l_addr) || memcmp(e->e_ident, ELFMAG, SELFMAG) != 0) continue;
        struct dl_phdr_info info = {.dlpi_addr = l->l_addr,
                                    .dlpi_name = l->l_name,
                                    .dlpi_phdr = (const void *)(l->l_addr + e->e_phoff),
                                    .dlpi_phnum = e->e_phnum};
        add_module(&info, sizeof info, NULL);
    }
}
