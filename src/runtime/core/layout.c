/* Where the memory of this target is (src/event/layout.h), and translation of its addresses to and from the
 * layout that all workers of a search share. For worker.c. */
#define _GNU_SOURCE
#include "event/layout.h"
#include "runtime/core/room.h"
#include "runtime/kernel/kernel.h"
#include "runtime/memory/memory.h"
#include "runtime/rewind/rewind.h"

#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#define LEAST      4096u /* no address is less; keys that are not addresses are less */
#define BEHIND_TLS 64u   /* bytes: the thread descriptor begins at the thread pointer */
#define BRK        (1ull << 26)

enum { HEAP = 1, BOOT, STACKS, LARGE_STACKS, MAPS, ARGUMENTS, PROGRAM_BREAK, TLS };

#define la mz_core_room.layout

static uint64_t mix(uint64_t h, uint64_t value) { return (h ^ value) * 0x100000001b3ull; }

static void add(uint64_t id, uint64_t start, uint64_t size, uint32_t module)
{
    struct mz_layout *l = &rt.channel->layout;
    MZ_ASSERT(l->reserved < MZ_MAX_PARTS);
    if (size) l->parts[l->reserved++] = (struct mz_part){id, start, size, module, 0};
}

/* ---- modules ---- */

#define CODE 65536 /* bytes of code to hash */

struct search { /* for the module that begins at `start` */
    uint64_t start, hash;
    bool program; /* the executable: its build id also depends on where it was built, so hash its code */
};

/* The first CODE bytes suffice: either all hosts use one file, or dist/fingerprint.c has compared the whole
 * file. */
static uint64_t hash_code(const uint8_t *p, uint64_t size, uint64_t h)
{
    uint64_t word;
    for (uint64_t i = 0; i + sizeof word <= size && i < CODE; i += sizeof word) {
        memcpy(&word, p + i, sizeof word);
        h = mix(h, word);
    }
    return h;
}

static uint64_t hash_notes(const char *p, uint64_t size, uint64_t h)
{
    for (const char *end = p + size; p + sizeof(ElfW(Nhdr)) <= end;) {
        const ElfW(Nhdr) *note = (const void *)p;
        uint64_t name = (note->n_namesz + 3u) & ~3u, desc = (note->n_descsz + 3u) & ~3u;
        p += sizeof *note + name;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4)
            for (uint32_t i = 0; i < note->n_descsz && p + i < end; i++) h = mix(h, (uint8_t)p[i]);
        p += desc;
    }
    return h;
}

/* If the module begins at s->start, hash the sizes of its segments and its build id (of the executable: its
 * code). */
static int hash_module(struct dl_phdr_info *info, size_t size, void *data)
{
    struct search *s = data;
    uint64_t start = ~0ull, h = s->hash;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uint64_t from = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && from < start) start = from;
        if (p->p_type == PT_LOAD) h = mix(mix(mix(h, p->p_vaddr), p->p_memsz), p->p_filesz);
        if (p->p_type == PT_LOAD && s->program && p->p_flags & PF_X)
            h = hash_code((const uint8_t *)from, p->p_filesz, h);
        if (p->p_type == PT_NOTE && p->p_align <= 4 && !s->program)
            h = hash_notes((const char *)from, p->p_memsz, h);
    }
    if (start != s->start) return 0;
    s->hash = h;
    return 1;
}

/* Add all modules except the vdso: it differs between kernels and contains nothing of the program. */
static void add_modules(void)
{
    uint64_t kernels = getauxval(AT_SYSINFO_EHDR);
    for (uint32_t i = 0; i < rt.channel->module_count; i++) {
        const struct mz_module *m = &rt.channel->modules[i];
        const char *base = m->path;
        struct search s = {m->start, 0xcbf29ce484222325ull, i == 0};
        if (kernels >= m->start && kernels < m->end) continue;
        for (const char *p = m->path; *p; p++)
            if (*p == '/') base = p + 1;
        for (; i > 0 && *base; base++)
            s.hash = mix(s.hash, (uint8_t)*base); /* the name of the executable does not count */
        dl_iterate_phdr(hash_module, &s);
        add(s.hash | 1ull << 63, m->start, m->end - m->start, i + 1);
    }
}

/* ---- all of it ---- */

void mz_layout_init(void)
{
    const char *low, *high, *end;
    char *boot;
    uint64_t start, size;
    add_modules();
    mz_heap_arena(0, &low, &high);
    mz_heap_arena(MZ_SLOTS - 1, &high, &end);
    add(HEAP, (uintptr_t)low, (uint64_t)(end - low), 0);
    size = mz_heap_boot(&boot);
    add(BOOT, (uintptr_t)boot, size, 0);
    mz_fiber_stacks(false, &start, &size);
    add(STACKS, start, size, 0);
    mz_fiber_stacks(true, &start, &size);
    add(LARGE_STACKS, start, size, 0);
    start = rt.maps_start;
    size = rt.maps_size;
    add(MAPS, start, size, 0);
    mz_snapshot_arguments(&start, &size);
    add(ARGUMENTS, start, size, 0);
    add(PROGRAM_BREAK, (uint64_t)mz_sys(SYS_brk, 0), BRK, 0);
    for (uint64_t s = 0; s < MZ_SLOTS; s++)
        add(TLS << 8 | s, rt.slots[s].fs - rt.tls_size, rt.tls_size + BEHIND_TLS, 0);
    __atomic_store_n(&rt.channel->layout.count, rt.channel->layout.reserved, __ATOMIC_RELEASE);
}

/* The command has sent the layout that all workers share: prepare the translations. */
void mz_layout_agree(void)
{
    const struct mz_layout *own = &rt.channel->layout, *all = &rt.channel->reference;
    if (!all->count) return;
    mz_translation_make(&la.out, own, all);
    mz_translation_make(&la.in, all, own);
}

static _Noreturn void refuse(void)
{
    mz_unsupported(
        "an object outside of the program's own memory, with workers that lie at different addresses,",
        "check with one worker (-j 1, without mpirun)");
}

uint64_t mz_layout_out(uint64_t address)
{
    if (address >= LEAST && address != UINT64_MAX && !mz_translate(&la.out, &address)) refuse();
    return address;
}

uint64_t mz_layout_in(uint64_t address)
{
    if (address >= LEAST && address != UINT64_MAX && !mz_translate(&la.in, &address)) refuse();
    return address;
}

uint64_t mz_layout_out_known(uint64_t value)
{
    if (value >= LEAST && value != UINT64_MAX) mz_translate(&la.out, &value);
    return value;
}

uint64_t mz_layout_in_known(uint64_t value)
{
    if (value >= LEAST && value != UINT64_MAX) mz_translate(&la.in, &value);
    return value;
}
