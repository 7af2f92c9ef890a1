/* Reads the symbol table of each instrumented module's file once, at the start. It finds where functions
 * begin and end, and the *gaps*: the bytes of .data and .bss that belong to no variable, where an access is
 * out of bounds.
 *
 * In doubt there is no gap:
 *  - a module without symbols, or without local symbols, has no gaps;
 *  - a gap is padding that the linker inserts to align the next variable, so it is smaller than that
 *    alignment, and smaller than 64 bytes: a larger one might be a variable of assembly code without a
 *    symbol;
 *  - a symbol without a size may stand for anything up to the next symbol.
 *
 * The gap after the last variable extends to the end of the page: the program has that page only because
 * pages are whole. */
#define _GNU_SOURCE
#include "base/region.h"
#include "runtime/core/runtime.h"
#include "runtime/kernel/kernel.h"
#include "runtime/memory/memory.h"
#include "runtime/memory/room.h"
#include "runtime/rewind/rewind.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_GAPS      (1u << 16)
#define MAX_OBJECTS   (1u << 20)
#define MAX_FUNCTIONS (1u << 18)
#define MOST          64u /* a gap is smaller than this */
#define PAGE          4096u
#define UNKNOWN       0

#define gl mz_memory_room.globals

struct object {
    uint64_t start, size;
};

struct elf {
    const char *file;
    size_t size;
    const Elf64_Shdr *sections;
    unsigned count;
    uint64_t bias;
};

static bool is_inside(const struct elf *e, uint64_t offset, uint64_t size)
{
    return offset <= e->size && size <= e->size - offset;
}

static bool open_file(struct elf *e, const struct mz_module *m)
{
    struct stat st;
    bool program = m == &rt.channel->modules[0]; /* the file may have been removed, or never had a name */
    int fd = (int)mz_sys(SYS_open, program ? "/proc/self/exe" : m->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    bool read = fstat(fd, &st) == 0 && (size_t)st.st_size >= sizeof(Elf64_Ehdr);
    void *p = read ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    mz_sys(SYS_close, fd);
    if (p == MAP_FAILED) return false;
    const Elf64_Ehdr *h = p;
    *e = (struct elf){.file = p, .size = (size_t)st.st_size, .bias = m->bias};
    if (mz_raw_memcmp(h->e_ident, ELFMAG, SELFMAG) || h->e_ident[EI_CLASS] != ELFCLASS64) return true;
    if (!is_inside(e, h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr))) return true;
    e->sections = (const void *)(e->file + h->e_shoff);
    e->count = h->e_shnum;
    return true;
}

static bool has_name(const struct elf *e, const Elf64_Shdr *s, const char *name)
{
    unsigned index = ((const Elf64_Ehdr *)(const void *)e->file)->e_shstrndx;
    if (index >= e->count) return false;
    const Elf64_Shdr *names = &e->sections[index];
    size_t n = 0;
    while (name[n]) n++;
    uint64_t at = names->sh_offset + s->sh_name;
    return is_inside(e, at, n + 1) && !mz_raw_memcmp(e->file + at, name, n + 1);
}

static void sort(struct object *o, uint32_t count)
{
    for (uint32_t gap = count / 2; gap; gap /= 2)
        for (uint32_t i = gap; i < count; i++) {
            struct object x = o[i];
            uint32_t k = i;
            for (; k >= gap && o[k - gap].start > x.start; k -= gap) o[k] = o[k - gap];
            o[k] = x;
        }
}

/* Does the section hold global variables? It is .data or .bss: allocated, writable, not thread-local. */
static bool is_variables(const struct elf *e, const Elf64_Shdr *s)
{
    bool writable = (s->sh_flags & (SHF_ALLOC | SHF_WRITE | SHF_TLS)) == (SHF_ALLOC | SHF_WRITE);
    return writable && s->sh_size && (has_name(e, s, ".data") || has_name(e, s, ".bss"));
}

/* Every module has a destructor of the compiler, which sets the variable `completed.N` when it has run. Keep
 * the address of that variable. */
static void note_completed(const struct elf *e, const Elf64_Shdr *table, const Elf64_Sym *symbol)
{
    static const char name[] = "completed.";
    if (table->sh_link >= e->count || symbol->st_size != 1 || gl.completed_count == MZ_MAX_MODULES) return;
    uint64_t at = e->sections[table->sh_link].sh_offset + symbol->st_name;
    if (is_inside(e, at, sizeof name) && !mz_raw_memcmp(e->file + at, name, sizeof name - 1))
        gl.completed[gl.completed_count++] = e->bias + symbol->st_value;
}

/* Called before the destructors of the modules run: keeps the variables that they write. */
void mz_globals_keep_completed(void)
{
    for (uint32_t i = 0; i < gl.completed_count; i++)
        mz_keep_program((const void *)(uintptr_t)gl.completed[i], 1);
}

/* Collects the variables of the module. Returns their number, or 0 if the table cannot be trusted. */
static uint32_t collect(const struct elf *e, const Elf64_Shdr *table, struct object *to)
{
    const Elf64_Sym *symbols = (const void *)(e->file + table->sh_offset);
    uint32_t n = 0;
    bool locals = false;
    if (!is_inside(e, table->sh_offset, table->sh_size)) return 0;
    for (uint64_t i = 0; i < table->sh_size / sizeof *symbols && n < MAX_OBJECTS; i++) {
        unsigned type = ELF64_ST_TYPE(symbols[i].st_info);
        uint64_t start = symbols[i].st_value;
        if (symbols[i].st_shndx >= e->count || (type != STT_OBJECT && type != STT_NOTYPE)) continue;
        const Elf64_Shdr *s = &e->sections[symbols[i].st_shndx];
        if (!is_variables(e, s) || start < s->sh_addr || start >= s->sh_addr + s->sh_size) continue;
        if (ELF64_ST_BIND(symbols[i].st_info) == STB_LOCAL && type == STT_OBJECT) locals = true;
        if (type == STT_OBJECT) note_completed(e, table, &symbols[i]);
        to[n++] = (struct object){e->bias + start, symbols[i].st_size};
    }
    return locals && n < MAX_OBJECTS ? n : 0;
}

static void add_functions(const struct elf *e, const Elf64_Shdr *table)
{
    const Elf64_Sym *symbols = (const void *)(e->file + table->sh_offset);
    if (!is_inside(e, table->sh_offset, table->sh_size)) return;
    for (uint64_t i = 0; i < table->sh_size / sizeof *symbols && gl.function_count < MAX_FUNCTIONS; i++) {
        const Elf64_Sym *s = &symbols[i];
        if (ELF64_ST_TYPE(s->st_info) == STT_FUNC && s->st_shndx != SHN_UNDEF && s->st_size)
            gl.functions[gl.function_count++] = (struct object){e->bias + s->st_value, s->st_size};
    }
}

/* Adds a gap, unless another section lies there, of which nothing is known. */
static void add_gap(const struct elf *e, uint64_t start, uint64_t end, const struct object *before,
                    const struct object *after)
{
    if (gl.gap_count == MAX_GAPS) return;
    for (unsigned i = 0; i < e->count; i++) {
        const Elf64_Shdr *s = &e->sections[i];
        bool here = (s->sh_flags & SHF_ALLOC) && !(s->sh_flags & SHF_TLS) && !is_variables(e, s);
        uint64_t from = e->bias + s->sh_addr;
        if (here && from < end && from + s->sh_size > start) return;
    }
    gl.gaps[gl.gap_count++] = (struct mz_gap){.start = start,
                                              .end = end,
                                              .before = before->start,
                                              .before_size = before->size,
                                              .after = after ? after->start : 0,
                                              .after_size = after ? after->size : 0};
}

static void find_gaps(const struct elf *e, const struct object *o, uint32_t n)
{
    const struct object *ending = NULL; /* the variable with the highest end so far */
    uint64_t end = 0, highest = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t alignment = o[i].start & -o[i].start;
        if (ending && ending->size != UNKNOWN && o[i].start > end && o[i].start - end < alignment &&
            o[i].start - end < MOST)
            add_gap(e, end, o[i].start, ending, &o[i]);
        if (ending && o[i].size != UNKNOWN && o[i].start + o[i].size <= end) continue;
        ending = &o[i];
        end = o[i].start + o[i].size;
    }
    for (unsigned i = 0; i < e->count; i++) {
        uint64_t above = e->bias + e->sections[i].sh_addr + e->sections[i].sh_size;
        if ((e->sections[i].sh_flags & SHF_ALLOC) && above > highest) highest = above;
    }
    if (!ending || ending->size == UNKNOWN || highest < end || highest - end >= MOST) return;
    add_gap(e, end, (highest + PAGE - 1) & ~(uint64_t)(PAGE - 1), ending, NULL);
}

static void add_variables(const struct object *o, uint32_t n)
{
    for (uint32_t i = 0; i < n && gl.variable_count < MAX_OBJECTS; i++)
        if (o[i].size != UNKNOWN) gl.variables[gl.variable_count++] = o[i];
}

static void look_at(const struct elf *e, struct object *objects)
{
    for (unsigned i = 0; i < e->count; i++) {
        if (e->sections[i].sh_type != SHT_SYMTAB) continue;
        add_functions(e, &e->sections[i]);
        uint32_t n = collect(e, &e->sections[i], objects);
        sort(objects, n);
        find_gaps(e, objects, n);
        if (gl.variables) add_variables(objects, n);
        return;
    }
}

void mz_globals_init(void)
{
    struct object *objects = mz_region_reserve(MAX_OBJECTS * sizeof *objects);
    gl.gaps = mz_region_reserve(MAX_GAPS * sizeof *gl.gaps);
    gl.functions = mz_region_reserve(MAX_FUNCTIONS * sizeof *gl.functions);
    MZ_ASSERT(objects && gl.gaps && gl.functions);
    if (rt.channel->options.persistent) {
        gl.variables = mz_region_reserve(MAX_OBJECTS * sizeof *gl.variables);
        MZ_ASSERT(gl.variables);
    }
    for (uint32_t i = 0; i < rt.channel->module_count; i++) {
        struct elf e;
        if (!rt.channel->modules[i].instrumented || !open_file(&e, &rt.channel->modules[i])) continue;
        look_at(&e, objects);
        munmap((void *)(uintptr_t)e.file, e.size);
    }
    mz_region_free(objects, MAX_OBJECTS * sizeof *objects);
    sort(gl.functions, gl.function_count);
    sort(gl.variables, gl.variable_count);
    /* Modules may come in any order; the gaps of one module are sorted. */
    for (uint32_t i = 1; i < gl.gap_count; i++) {
        struct mz_gap g = gl.gaps[i];
        uint32_t k = i;
        for (; k > 0 && gl.gaps[k - 1].start > g.start; k--) gl.gaps[k] = gl.gaps[k - 1];
        gl.gaps[k] = g;
    }
    mz_region_freeze(gl.gaps, MAX_GAPS * sizeof *gl.gaps);
    mz_region_freeze(gl.functions, MAX_FUNCTIONS * sizeof *gl.functions);
}

const struct mz_gap *mz_globals_gap(uint64_t address, size_t size)
{
    uint32_t low = 0, high = gl.gap_count; /* gaps[low - 1].end <= address < gaps[high].end */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (gl.gaps[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < gl.gap_count && gl.gaps[low].start < address + size ? &gl.gaps[low] : NULL;
}

/* Returns the index of the first object that begins above the address. The objects are sorted. */
static uint32_t above(const struct object *o, uint32_t count, uint64_t address)
{
    uint32_t low = 0, high = count; /* o[low - 1].start <= address < o[high].start */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (o[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t mz_globals_variable(uint64_t address)
{
    uint32_t i = above(gl.variables, gl.variable_count, address);
    return i && address - gl.variables[i - 1].start < gl.variables[i - 1].size ? gl.variables[i - 1].start
                                                                               : 0;
}

/* Finds the function that contains the address. Returns false if there is none, or more than one. */
bool mz_globals_function(uint64_t address, uint64_t *start, uint64_t *end)
{
    uint32_t low = above(gl.functions, gl.function_count, address);
    if (!low) return false;
    const struct object *f = &gl.functions[low - 1];
    *start = f->start;
    *end = f->start + f->size;
    /* Symbols with the same start are other names of the function, if they also have its size. */
    for (uint32_t i = low - 1; i-- > 0 && gl.functions[i].start == f->start;)
        if (gl.functions[i].size != f->size) return false;
    bool overlaps = low < gl.function_count && gl.functions[low].start < *end;
    return address < *end && !overlaps;
}
