/* Code of a program that has no hooks: see scan.h.
 *
 * Debug information has the flags that each source file was compiled with. A function of the program is
 * instrumented if it lies in the code of a file that was compiled with -fsanitize=thread; `mazurka cc` adds -g and
 * makes sure that the flags are recorded. All other functions are looked at (scan_code.c), except what every
 * program gets from the C library and the compiler. */
#define _GNU_SOURCE
#include "build/scan.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/files.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "build/scan_code.h"
#include "runtime/hooks/libc_words.h"

#define NAMED 5 /* functions in one line */

struct range {
    uint64_t start, end;
};

struct group {  /* functions without hooks, of one file */
    char *file; /* NULL: not known */
    struct mz_list functions;
    size_t count;
};

struct scan {
    Elf *elf;
    Dwarf *debug;
    struct range *ranges; /* of instrumented code */
    size_t range_count, range_capacity;
    struct range *named; /* of symbols; a symbol without a size reaches to the next one */
    size_t named_count, named_capacity;
    struct group *groups;
    size_t group_count, group_capacity;
    struct mz_list *unseen;
};

/* ---- what was compiled how ---- */

static const char *producer_of(Dwarf_Die *unit)
{
    Dwarf_Attribute attribute;
    const char *text = dwarf_formstring(dwarf_attr(unit, DW_AT_producer, &attribute));
    return text ? text : "";
}

/* Debug information in a file of its own has no flags here. */
static bool is_instrumented(Dwarf_Die *unit)
{
    return strstr(producer_of(unit), "-fsanitize=thread") || dwarf_hasattr(unit, DW_AT_GNU_dwo_name) ||
           dwarf_hasattr(unit, DW_AT_dwo_name);
}

static void add_ranges(struct scan *s, Dwarf_Die *unit)
{
    Dwarf_Addr base, start, end;
    ptrdiff_t next = 0;
    while ((next = dwarf_ranges(unit, next, &base, &start, &end)) > 0) {
        MZ_GROW(s->ranges, s->range_count, s->range_capacity);
        s->ranges[s->range_count++] = (struct range){start, end};
    }
}

static bool is_structure(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Die type, peeled;
    if (!dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attribute), &type)) return false;
    if (dwarf_peel_type(&type, &peeled) != 0) return false;
    int tag = dwarf_tag(&peeled);
    return tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_class_type;
}

/* Does a function take or return a structure by value? */
static bool passes_structures(Dwarf_Die *unit)
{
    Dwarf_Die f, p;
    if (dwarf_child(unit, &f) != 0) return false;
    do {
        if (dwarf_tag(&f) != DW_TAG_subprogram) continue;
        if (is_structure(&f)) return true;
        if (dwarf_child(&f, &p) != 0) continue;
        do {
            if (dwarf_tag(&p) == DW_TAG_formal_parameter && is_structure(&p)) return true;
        } while (dwarf_siblingof(&p, &p) == 0);
    } while (dwarf_siblingof(&f, &f) == 0);
    return false;
}

static void look_for_plugin(struct scan *s, Dwarf_Die *unit)
{
    const char *producer = producer_of(unit), *name = dwarf_diename(unit);
    if (!*producer || strstr(producer, "libmazurka-") || !passes_structures(unit)) return;
    mz_list_addf(
        s->unseen,
        "%s was compiled without mazurka's plugin for %s: structures that calls store or pass have no "
        "hooks (install the compiler's plugin headers and run make again)",
        name ? name : "a file", strstr(producer, "clang") ? "clang" : "gcc");
}

static void read_units(struct scan *s)
{
    Dwarf_CU *cu = NULL;
    Dwarf_Die unit;
    uint8_t type;
    while (dwarf_get_units(s->debug, cu, &cu, NULL, &type, &unit, NULL) == 0) {
        if ((type != DW_UT_compile && type != DW_UT_skeleton) || !is_instrumented(&unit)) continue;
        add_ranges(s, &unit);
        look_for_plugin(s, &unit);
    }
}

static bool in_ranges(const struct scan *s, uint64_t address)
{
    for (size_t i = 0; i < s->range_count; i++)
        if (address >= s->ranges[i].start && address < s->ranges[i].end) return true;
    return false;
}

/* ---- functions ---- */

static bool is_one_of(const char *name, const char *const *list)
{
    while (*list && strcmp(name, *list) != 0) list++;
    return *list;
}

/* libc_nonshared.a: its functions are hidden, so that the linker makes them local. */
static bool is_from_nonshared(const char *name)
{
    static const struct {
        const char *name;
        unsigned facts;
    } rows[] = {
#define ROW(name, state, facts, ...) {#name, facts},
#define OWN(name, file, ...)         ROW(name, __VA_ARGS__, )
#define PASS(name, ...)              ROW(name, __VA_ARGS__, )
#include "runtime/hooks/libc.def"
#undef ROW
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].facts & NONSHARED && !strcmp(name, rows[i].name)) return true;
    return false;
}

/* Functions that the compiler and the C library put into every program. */
static bool is_from_system(const char *name, const GElf_Sym *symbol)
{
    static const char *const start[] = {"_start",
                                        "_init",
                                        "_fini",
                                        "deregister_tm_clones",
                                        "register_tm_clones",
                                        "__do_global_dtors_aux",
                                        "frame_dummy",
                                        "_dl_relocate_static_pie",
                                        "__libc_csu_init",
                                        "__libc_csu_fini",
                                        "tsan.module_ctor",
                                        NULL};
    /* libgcc.a: hidden, so that the linker makes them local. */
    static const char *const libgcc[] = {
        "__udiv",  "__umod",   "__div",         "__mod",   "__mul",       "__ashl", "__ashr",
        "__lshr",  "__neg",    "__abs",         "__add",   "__sub",       "__cmp",  "__ucmp",
        "__float", "__fix",    "__extend",      "__trunc", "__pow",       "__pop",  "__par",
        "__ffs",   "__clz",    "__ctz",         "__bswap", "__eq",        "__ne",   "__lt",
        "__le",    "__gt",     "__ge",          "__unord", "__cpu_",      "__sfp_", "__bid_",
        "__gcc_",  "__emutls", "__clear_cache", "__x86.",  "__morestack", NULL};
    if (is_one_of(name, start) || !strncmp(name, "_sub_I_", 7) || !strncmp(name, "_sub_D_", 7)) return true;
    if (GELF_ST_BIND(symbol->st_info) != STB_LOCAL) return false;
    for (const char *const *p = libgcc; *p; p++)
        if (!strncmp(name, *p, strlen(*p))) return true;
    return is_from_nonshared(name);
}

static bool is_constant(void *data, uint64_t address)
{
    struct scan *s = data;
    GElf_Shdr h;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(s->elf, section));) {
        if (!gelf_getshdr(section, &h) || !(h.sh_flags & SHF_ALLOC)) continue;
        if (address < h.sh_addr || address >= h.sh_addr + h.sh_size) continue;
        return !(h.sh_flags & SHF_WRITE) || h.sh_type == SHT_DYNAMIC;
    }
    return true; /* no variable of the program */
}

static struct group *group_of(struct scan *s, const char *file)
{
    for (size_t i = 0; i < s->group_count; i++) {
        const char *known = s->groups[i].file;
        if (known == file || (known && file && !strcmp(known, file))) return &s->groups[i];
    }
    MZ_GROW(s->groups, s->group_count, s->group_capacity);
    s->groups[s->group_count] = (struct group){.file = file ? mz_memory_string(file) : NULL};
    return &s->groups[s->group_count++];
}

static void add_function(struct scan *s, const char *name, uint64_t address)
{
    Dwarf_Die unit;
    Dwarf_Line *line = NULL;
    int number = 0;
    const char *file = NULL;
    if (s->debug && dwarf_addrdie(s->debug, address, &unit)) {
        file = dwarf_diename(&unit);
        line = dwarf_getsrc_die(&unit, address);
        if (line) dwarf_lineno(line, &number);
    }
    struct group *g = group_of(s, file);
    if (g->count++ >= NAMED) return;
    if (number)
        mz_list_addf(&g->functions, "%s (%s:%d)", name, mz_files_base(file), number);
    else
        mz_list_add(&g->functions, name);
}

/* The bytes of the section from address on; NULL if it is not code of the program. */
static const uint8_t *code_at(struct scan *s, size_t index, uint64_t address, size_t *room)
{
    GElf_Shdr h;
    Elf_Scn *section = elf_getscn(s->elf, index);
    if (!section || !gelf_getshdr(section, &h) || !(h.sh_flags & SHF_EXECINSTR)) return NULL;
    Elf_Data *data = elf_rawdata(section, NULL);
    if (!data || !data->d_buf || address < h.sh_addr || address - h.sh_addr >= data->d_size) return NULL;
    *room = data->d_size - (address - h.sh_addr);
    return (const uint8_t *)data->d_buf + (address - h.sh_addr);
}

/* Labels in assembly have no type unless it says ".type name, @function". */
static bool may_be_function(const GElf_Sym *symbol)
{
    int type = GELF_ST_TYPE(symbol->st_info);
    return (type == STT_FUNC || type == STT_NOTYPE || type == STT_GNU_IFUNC) && symbol->st_shndx != SHN_UNDEF;
}

/* A function in assembly may have no size: then it ends at the next one, which need not be searched for. */
static void look_at_symbol(struct scan *s, const char *name, const GElf_Sym *symbol)
{
    size_t room;
    if (!may_be_function(symbol)) return;
    const uint8_t *code = code_at(s, symbol->st_shndx, symbol->st_value, &room);
    if (!code) return;
    MZ_GROW(s->named, s->named_count, s->named_capacity);
    s->named[s->named_count++] = (struct range){symbol->st_value, symbol->st_value + symbol->st_size};
    if (in_ranges(s, symbol->st_value) || is_from_system(name, symbol)) return;
    size_t size = symbol->st_size && symbol->st_size < room ? symbol->st_size : symbol->st_size ? room : 0;
    if (size && !mz_scan_code(code, size, symbol->st_value, is_constant, s)) return;
    add_function(s, name, symbol->st_value);
}

static void read_symbols(struct scan *s)
{
    GElf_Shdr h;
    GElf_Sym symbol;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(s->elf, section));) {
        if (!gelf_getshdr(section, &h) || h.sh_type != SHT_SYMTAB) continue;
        Elf_Data *data = elf_getdata(section, NULL);
        for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
            const char *name = elf_strptr(s->elf, h.sh_link, symbol.st_name);
            if (name) look_at_symbol(s, name, &symbol);
        }
    }
}

/* ---- code without symbols: functions of stripped objects ---- */

static int by_start(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* Linkers and compilers put zeros and int3 between functions; nops touch nothing. */
static bool is_padding(uint8_t byte) { return byte == 0 || byte == 0xcc; }

static void look_at_gap(struct scan *s, const uint8_t *code, uint64_t start, uint64_t end)
{
    char name[40];
    for (; start < end && is_padding(*code); code++) start++;
    if (start >= end || !mz_scan_code(code, end - start, start, is_constant, s)) return;
    snprintf(name, sizeof name, "code at 0x%llx", (unsigned long long)start);
    add_function(s, name, start);
}

/* `known` is sorted; a range without a size reaches to the next range. */
static void look_between(struct scan *s, const GElf_Shdr *h, const uint8_t *code, const struct range *known,
                         size_t count)
{
    uint64_t at = h->sh_addr, end = h->sh_addr + h->sh_size;
    for (size_t i = 0; i < count && at < end; i++) {
        if (known[i].start >= end) break;
        if (known[i].start > at) look_at_gap(s, code + (at - h->sh_addr), at, known[i].start);
        uint64_t next = i + 1 < count && known[i + 1].start < end ? known[i + 1].start : end;
        uint64_t to = known[i].end > known[i].start ? known[i].end : next;
        if (to > at) at = to;
    }
    if (at < end) look_at_gap(s, code + (at - h->sh_addr), at, end);
}

/* The linker makes .plt and similar sections; .init and .fini are assembled from parts. */
static bool is_made_by_linker(const char *section)
{
    return !section || !strncmp(section, ".plt", 4) || !strcmp(section, ".init") || !strcmp(section, ".fini");
}

static void read_gaps(struct scan *s)
{
    GElf_Shdr h;
    size_t strings;
    if (!s->named_count || elf_getshdrstrndx(s->elf, &strings) != 0) return; /* nothing has a symbol */
    for (size_t i = 0; i < s->range_count; i++) {
        if (s->ranges[i].end <= s->ranges[i].start) continue;
        MZ_GROW(s->named, s->named_count, s->named_capacity);
        s->named[s->named_count++] = s->ranges[i];
    }
    qsort(s->named, s->named_count, sizeof *s->named, by_start);
    for (Elf_Scn *section = NULL; (section = elf_nextscn(s->elf, section));) {
        if (!gelf_getshdr(section, &h) || h.sh_type != SHT_PROGBITS || !(h.sh_flags & SHF_EXECINSTR))
            continue;
        if (is_made_by_linker(elf_strptr(s->elf, strings, h.sh_name))) continue;
        Elf_Data *data = elf_rawdata(section, NULL);
        size_t first = 0;
        while (first < s->named_count && s->named[first].end < h.sh_addr && s->named[first].start < h.sh_addr)
            first++;
        if (data && data->d_buf && data->d_size == h.sh_size)
            look_between(s, &h, data->d_buf, s->named + first, s->named_count - first);
    }
}

static void say(struct scan *s, const struct group *g)
{
    struct mz_strbuf b = {0};
    mz_strbuf_addf(&b, "%zu function%s", g->count, g->count == 1 ? "" : "s");
    if (g->file)
        mz_strbuf_addf(&b, " in %s", g->file);
    else
        mz_strbuf_add(&b, " without debug information");
    mz_strbuf_addf(&b, " %s not instrumented: ", g->count == 1 ? "is" : "are");
    for (size_t i = 0; i < g->functions.count; i++)
        mz_strbuf_addf(&b, "%s%s", i ? ", " : "", g->functions.items[i]);
    if (g->count > NAMED) mz_strbuf_addf(&b, " and %zu more", g->count - NAMED);
    mz_list_add(s->unseen, mz_strbuf_text(&b));
    mz_strbuf_release(&b);
}

bool mz_scan(const char *program, struct mz_list *unseen)
{
    struct scan s = {.unseen = unseen};
    int fd = open(program, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    elf_version(EV_CURRENT);
    s.elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    s.debug = s.elf ? dwarf_begin_elf(s.elf, DWARF_C_READ, NULL) : NULL;
    if (s.debug) read_units(&s);
    if (s.elf && s.range_count) {
        read_symbols(&s);
        read_gaps(&s);
    } else {
        mz_list_add(unseen,
                    "the program has no debug information: code that is not instrumented cannot be told "
                    "from other code");
    }
    for (size_t i = 0; i < s.group_count; i++) {
        say(&s, &s.groups[i]);
        free(s.groups[i].file);
        mz_list_release(&s.groups[i].functions);
    }
    free(s.groups);
    free(s.ranges);
    free(s.named);
    if (s.debug) dwarf_end(s.debug);
    if (s.elf) elf_end(s.elf);
    close(fd);
    return s.group_count > 0;
}
