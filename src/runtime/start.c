/* Getting control: between the loader and main.
 *
 * __libc_start_main is ours first: it hands libc another main, which maps the channel, sets everything up and
 * explores. Started without the command, the program just runs, once, in the order that the first execution
 * would have. */
#define _GNU_SOURCE
#include "audit.h"
#include "decode.h"
#include "imports.h"
#include "kernel.h"
#include "own.h"
#include "pthread_objects.h"

#include "../base/region.h"
#include "../event/link.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void *mz_next_symbol(const char *name)
{
    void *p = dlsym(RTLD_NEXT, name);
    MZ_ASSERT(p != NULL);
    return p;
}

void mz_print(const char *text) { mz_sys(SYS_write, 2, text, strlen(text)); }

static uint64_t our_start, our_end;

bool mz_is_ours(uint64_t pc) { return pc >= our_start && pc < our_end; }

void mz_our_code(uint64_t *start, uint64_t *end)
{
    *start = our_start;
    *end = our_end;
}

/* Mostly it is the executable, which is the first. */
bool mz_is_instrumented(uint64_t pc)
{
    const struct mz_module *m = rt.channel->modules;
    for (uint32_t i = 0; i < rt.channel->module_count; i++)
        if (m[i].instrumented && pc >= m[i].start && pc < m[i].end) return true;
    return false;
}

/* ---- what is loaded ---- */

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

/* What a module takes from others: the dynamic symbol table has no length of its own, but every undefined
 * symbol that is used has a relocation. */
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

static bool contains(const struct dl_phdr_info *info, uintptr_t address)
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
    static uintptr_t libc, loader, vdso;
    if (!libc) {
        libc = (uintptr_t)mz_next_symbol("__libc_start_main");
        loader = getauxval(AT_BASE);
        vdso = getauxval(AT_SYSINFO_EHDR);
    }
    return contains(info, (uintptr_t)&rt) || contains(info, libc) || (loader && contains(info, loader)) ||
           (vdso && contains(info, vdso));
}

static bool in_data(const struct dl_phdr_info *info, uintptr_t address)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && p->p_flags & PF_W && address >= start && address < start + p->p_memsz)
            return true;
    }
    return false;
}

/* A locked instruction at p? Compiled code has none, its atomics are calls to us. Bytes can also look like
 * one by chance: only those count that are unmistakable, by their length or because they name a variable of
 * the module. */
static bool is_locked(const unsigned char *p, const struct dl_phdr_info *info)
{
    static const unsigned char two[] = {0xb0, 0xb1, 0xc0, 0xc1,
                                        0xab, 0xb3, 0xbb};                   /* cmpxchg, xadd, bts, ... */
    static const unsigned char one[] = {0x01, 0x09, 0x21, 0x29, 0x31, 0xff}; /* add, or, ..., inc, dec */
    int32_t distance;
    if (*p++ != 0xf0) return false;
    if ((*p & 0xf0) == 0x40) p++;
    if (*p == 0x0f) {
        for (size_t i = 0; i < sizeof two; i++)
            if (p[1] == two[i] && p[2] >> 6 != 3) return true;
        return p[1] == 0xc7 && (p[2] & 0x38) == 0x08 && p[2] >> 6 != 3;
    }
    if ((p[1] & 0xc7) != 0x05) return false; /* relative to the instruction pointer */
    mz_raw_memcpy(&distance, p + 2, sizeof distance);
    for (size_t i = 0; i < sizeof one; i++)
        if (*p == one[i] && in_data(info, (uintptr_t)p + 6 + (uintptr_t)(intptr_t)distance)) return true;
    return *p == 0x83 && in_data(info, (uintptr_t)p + 7 + (uintptr_t)(intptr_t)distance);
}

/* The instruction loads the control register of SSE, or stores it, or loads it with others: ldmxcsr, stmxcsr,
 * vldmxcsr, vstmxcsr, fxrstor, xrstor. */
static bool names_mxcsr(const unsigned char *p)
{
    unsigned reg = p[2] >> 3 & 7;
    bool vex = p[0] == 0xf8 || p[0] == 0x78; /* the last byte of their prefix */
    if (p[1] != 0xae || p[2] >> 6 == 3 || (p[0] != 0x0f && !vex)) return false;
    return reg == 2 || reg == 3 || (!vex && (reg == 1 || reg == 5));
}

/* The instruction loads the control word of the x87: fldcw, fldenv, frstor. */
static bool loads_x87(const unsigned char *p)
{
    unsigned reg = p[1] >> 3 & 7;
    if (p[1] >> 6 == 3) return false;
    return (p[0] == 0xd9 && (reg == 4 || reg == 5)) || (p[0] == 0xdd && reg == 4);
}

/* What ends functions and stands between them, and decode.c does not understand: hlt, jumps to what a register or memory
 * says, nops with any number of prefixes. Its length, or 0. */
static size_t padding(const unsigned char *p)
{
    size_t n = 0;
    if (p[0] == 0xf4) return 1;
    if (p[0] == 0xff && (p[1] & 0xf8) == 0xe0) return 2;
    if (p[0] == 0xff && p[1] == 0x25) return 6;                 /* in the table of imported functions */
    if (p[0] == 0xf2 && p[1] == 0xff && p[2] == 0x25) return 7; /* the same with a prefix */
    while (n < 8 && (p[n] == 0x66 || p[n] == 0x2e)) n++;
    if (p[n] == 0x90) return n + 1;
    if (!n || p[n] != 0x0f || p[n + 1] != 0x1f) return 0;
    struct mz_instruction nop = mz_decode(p + n);
    return nop.known ? (size_t)(nop.next - (const uint8_t *)p) : 0;
}

/* Two bytes look like such an instruction too often, so only those count that may be the first of one. Where
 * an instruction is not understood, the next ones may begin anywhere. */
static bool any_loads_x87(const unsigned char *p, size_t size)
{
    const size_t longest = 16;
    for (size_t i = 0, anywhere = 0; i + longest < size;) {
        size_t skip = i >= anywhere ? padding(p + i) : 0;
        if (skip) {
            i += skip;
            continue;
        }
        if (loads_x87(p + i)) return true;
        struct mz_instruction next = mz_decode(p + i);
        if (!next.known) anywhere = i + longest;
        i = next.known && i >= anywhere ? (size_t)(next.next - p) : i + 1;
    }
    return false;
}

/* Instructions that name a thread's own state without calling anybody: the thread pointer (mov %fs:0), the
 * floating-point environment. What only looks like one costs a little time, nothing else. */
static void look_at_code(const struct dl_phdr_info *info, const unsigned char *p, size_t size, bool plugin)
{
    static const unsigned char at_zero[] = {0x25, 0, 0, 0, 0};
    for (size_t i = 0; i + 9 < size; i++) {
        if (!plugin && is_locked(p + i, info))
            mz_unseen(
                "the program has atomic instructions that are not seen (inline assembly, or a file that "
                "was not "
                "compiled with mazurka cc)");
        if (p[i] == 0x64 && (p[i + 1] & 0xfb) == 0x48 && (p[i + 3] & 0xc7) == 0x04 &&
            !memcmp(p + i + 4, at_zero, sizeof at_zero))
            rt.switch_fs = true;
        if (names_mxcsr(p + i)) rt.switch_fp = true;
    }
    if (!rt.switch_fp && any_loads_x87(p, size)) rt.switch_fp = true;
}

static void note_module(const char *path)
{
    char text[MZ_TEXT], *end = text + sizeof text, *t = text;
    t = mz_text_add(t, end, path);
    mz_text_add(t, end, " was not compiled with mazurka cc: what it does to shared memory is not seen");
    mz_unseen(text);
}

static uint64_t data_start, data_end;

void mz_our_data(uint64_t *start, uint64_t *end)
{
    *start = data_start;
    *end = data_end;
}

static void find_data(const struct dl_phdr_info *info)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uint64_t from = info->dlpi_addr + p->p_vaddr;
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_W)) continue;
        if (!data_start || from < data_start) data_start = from;
        if (from + p->p_memsz > data_end) data_end = from + p->p_memsz;
    }
}

static int find_ourselves(struct dl_phdr_info *info, size_t size, void *data)
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
    our_start = start;
    our_end = end;
    find_data(info);
    return 1;
}

static bool is_known(const struct dl_phdr_info *info)
{
    const struct mz_channel *c = rt.channel;
    for (uint32_t i = 0; i < c->module_count; i++)
        if (contains(info, c->modules[i].start) || (info->dlpi_addr && info->dlpi_addr == c->modules[i].bias))
            return true;
    return false;
}

static int add_module(struct dl_phdr_info *info, size_t size, void *data)
{
    struct mz_channel *c = rt.channel;
    uint64_t start = ~0ull, end = 0, tls = (uintptr_t)info->dlpi_tls_data, fs = rt.slots[0].fs;
    const ElfW(Dyn) *dyn = NULL;
    bool plugin = false; /* what it hides of inline assembly is in its notes */
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
            look_at_code(info, (const unsigned char *)(info->dlpi_addr + p->p_vaddr), p->p_filesz, plugin);
    }
    c->instrumented |= m->instrumented;
    if (!m->instrumented && !mz_is_system(info) && !mz_imports_harmless_library(m->path)) {
        mz_spin_forbid(m->path);
        rt.writes_unknown = true;
        note_module(m->path);
    }
    return 0;
}

/* ---- the channel ---- */

static const char *read_number(const char *text, int *number)
{
    *number = 0;
    for (; *text >= '0' && *text <= '9'; text++) *number = *number * 10 + (*text - '0');
    return text;
}

static struct mz_channel *map_channel(const char *number)
{
    struct stat st;
    int fd = 0;
    number = read_number(number, &fd);
    if (mz_sys(SYS_fstat, fd, &st) != 0 || (size_t)st.st_size < sizeof(struct mz_channel)) return NULL;
    struct mz_channel *c = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (c == MAP_FAILED) return NULL;
    mz_sys(SYS_close, fd);
    if (c->magic != MZ_CHANNEL_MAGIC || c->version != MZ_CHANNEL_VERSION || c->size_of_header != sizeof *c)
        return NULL;
    if (*number != ',') return c;
    read_number(number + 1, &fd); /* what all workers share lies over a part of the channel */
    void *common = mmap((char *)c + c->common_offset, sizeof(struct mz_common), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_FIXED, fd, 0);
    mz_sys(SYS_close, fd);
    return common == MAP_FAILED ? NULL : c;
}

/* Without the command: a channel that nobody reads. */
static struct mz_channel *private_channel(void)
{
    const uint64_t steps = 10000000, arena = 1 << 20;
    size_t size = sizeof(struct mz_channel) + steps * sizeof(struct mz_step) + arena;
    struct mz_channel *c = mz_region_reserve(size);
    MZ_ASSERT(c != NULL);
    c->options.mode = MZ_MODE_REPLAY;
    c->options.algorithm = MZ_ALG_NONE;
    c->options.show_output = 1;
    c->options.max_steps = steps - 16;
    c->live_offset = sizeof *c;
    c->live_capacity = steps;
    c->arena_offset = c->live_offset + steps * sizeof(struct mz_step);
    c->arena_size = arena;
    return c;
}

static const char *channel_variable(char **envp)
{
    for (; *envp; envp++)
        if (!strncmp(*envp, MZ_CHANNEL_ENV "=", sizeof MZ_CHANNEL_ENV)) return *envp + sizeof MZ_CHANNEL_ENV;
    return NULL;
}

bool mz_find_channel(char **envp)
{
    const char *number = channel_variable(envp);
    rt.standalone = number == NULL;
    rt.channel = number ? map_channel(number) : private_channel();
    return rt.channel != NULL;
}

static void hide_channel_variable(char **envp)
{
    int to = 0;
    for (int i = 0; envp[i]; i++)
        if (strncmp(envp[i], MZ_CHANNEL_ENV "=", sizeof MZ_CHANNEL_ENV)) envp[to++] = envp[i];
    envp[to] = NULL;
}

static void start_exploration(void)
{
    const struct mz_options_block *o = &rt.channel->options;
    struct mz_explore_options options = {.algorithm = (enum mz_algorithm)o->algorithm,
                                         .sleep_sets = o->sleep_sets,
                                         .max_steps = o->max_steps,
                                         .memory_limit = o->memory_limit,
                                         .refresh = mz_refresh,
                                         .strict = o->strict,
                                         .order = (enum mz_order)o->order,
                                         .order_seed = o->order_seed};
    if (o->mode == MZ_MODE_REPLAY) {
        options.algorithm = MZ_ALG_NONE;
        options.sleep_sets = false;
        options.schedule = (const struct mz_step *)((char *)rt.channel + o->schedule_offset);
        options.schedule_length = o->schedule_length;
        rt.recording = rt.channel->records_capacity > 0;
        rt.once = true;
        rt.hashing = o->goes_round;
        if (o->algorithm >= MZ_ALG_STATEFUL) mz_spin_unneeded(); /* as when it was made */
    }
    rt.stateful = options.algorithm >= MZ_ALG_STATEFUL;
    rt.hashing |= rt.stateful || (o->state_capture == MZ_CAPTURE_ALWAYS && !rt.once);
    if (rt.stateful) {
        options.state = mz_state_of;
        options.endless = mz_finding_endless;
        options.check_states = o->check_states;
        options.state_is_unique = mz_state_is_unique;
        options.state_differs = mz_state_differs;
        options.state_outline = mz_state_outline;
        options.state_memory = mz_state_memory_of;
        if (o->exact_match) options.state_bytes = mz_state_bytes;
        mz_spin_unneeded(); /* a loop that waits comes back to the same state */
    }
    rt.shared = o->shared;
    if (rt.shared) options.share = &mz_worker_sharing;
    options.eager = o->eager;
    if (o->mode == MZ_MODE_EXPLORE && rt.channel->tree_file[0]) options.tree_log = &mz_tree_file;
    rt.x = mz_explore_new(&rt.view, &options);
    rt.path = (struct mz_path *)rt.x;
    rt.live = (struct mz_step *)((char *)rt.channel + rt.channel->live_offset);
}

/* For reports: what addresses outside of all modules are. */
static void add_area(enum mz_area_kind kind, int slot, const void *start, const void *end)
{
    struct mz_channel *c = rt.channel;
    if (c->area_count == MZ_MAX_AREAS) return;
    c->areas[c->area_count++] = (struct mz_area){
        .start = (uintptr_t)start, .end = (uintptr_t)end, .kind = (uint8_t)kind, .thread = (uint8_t)slot};
}

static void describe_areas(void)
{
    for (int s = 0; s < MZ_SLOTS; s++) {
        const char *low, *high, *fs = (const char *)rt.slots[s].fs;
        mz_heap_arena(s, &low, &high);
        add_area(MZ_AREA_HEAP, s, low, high);
        add_area(MZ_AREA_STACK, s, rt.slots[s].stack_low, rt.slots[s].stack_high);
        add_area(MZ_AREA_TLS, s, fs - rt.tls_size, fs);
    }
}

static void flush(void) { ((int (*)(void *))mz_next_symbol("fflush"))(NULL); }

/* A program that runs by itself ends like any other. */
static int end_standalone(void)
{
    const struct mz_finding *f = &rt.channel->findings[0];
    flush();
    if (!rt.channel->finding_count) return rt.run.exit_code;
    if (f->kind == MZ_KIND_EXIT_CODE) return f->code;
    mz_print("mazurka: ");
    mz_print(mz_kind_name((enum mz_kind)f->kind));
    mz_print(": ");
    mz_print(f->text);
    mz_print(" (mazurka check shows where and how)\n");
    return 1;
}

void mz_os_reset(void)
{
    mz_maps_reset();
    mz_files_reset();
    mz_signal_calls_reset();
    mz_exit_reset();
}

/* What was loaded in this execution must be known to reports. The loader's list is read without its lock,
 * which a thread that was stopped may hold. */
void mz_os_ended(void)
{
    if (!rt.modules_changed) return;
    MZ_ASSERT(rt.switch_fs); /* whoever can load something */
    for (const struct link_map *l = _r_debug.r_map; l; l = l->l_next) {
        const ElfW(Ehdr) *e = (const void *)l->l_addr;
        if (!l->l_addr || !mz_maps_contains(l->l_addr) || memcmp(e->e_ident, ELFMAG, SELFMAG)) continue;
        struct dl_phdr_info info = {.dlpi_addr = l->l_addr,
                                    .dlpi_name = l->l_name,
                                    .dlpi_phdr = (const void *)(l->l_addr + e->e_phoff),
                                    .dlpi_phnum = e->e_phnum};
        add_module(&info, sizeof info, NULL);
    }
}

/* Something writes without a hook. What a thread changes is known from comparing memory only. */
static void trust_no_hooks(void)
{
    rt.writes_unknown = true;
    mz_spin_forbid("code that writes without a hook");
}

static int our_main(int argc, char **argv, char **envp)
{
    if (!mz_find_channel(envp)) {
        mz_print("mazurka: this program was built with another version of mazurka: build it again\n");
        return 2;
    }
    hide_channel_variable(envp);
    rt.argc = argc;
    rt.argv = argv;
    rt.envp = envp;
    rt.slots_known = rt.slots_named = 1;
    rt.channel->threads[0].used = 1;
    mz_text_copy(rt.channel->threads[0].name, sizeof rt.channel->threads[0].name, "0");
    if (rt.channel->options.mode == MZ_MODE_REPLAY) mz_slots_given();
    dl_iterate_phdr(find_ourselves, NULL);
    mz_raw_init();
    mz_files_init();
    mz_maps_init();
    mz_heap_init();
    mz_fiber_init();
#ifdef MZ_NO_SPIN
    mz_spin_forbid("a compiler other than gcc, which mazurka was built with,");
#endif
    dl_iterate_phdr(add_module, NULL);
    mz_imports_ready();
    mz_fiber_storage();
    bool code = rt.channel->options.unseen_code && !rt.channel->options.trusting;
    if (rt.channel->options.safe || code) trust_no_hooks();
    rt.allow_races = rt.channel->options.allow_races;
    mz_keys_init();
    mz_sync_init();
    mz_cxx_init();
    mz_cancel_init();
    mz_shadow_init();
    mz_spin_init();
    mz_signal_calls_init();
    mz_signals_init();
    mz_exit_init();
    start_exploration();
    rt.channel->started = 1;
    mz_snapshot_init();
    mz_undo_init();
    mz_audit_init();
    mz_state_init();
    mz_memory_init();
    mz_globals_init();
    mz_leaks_init();
    rt.channel->switch_ns = rt.switch_ns;
    describe_areas();
    if (!rt.standalone) mz_worker_init();
    mz_kernel_init();
    mz_own_init();
    mz_explore_program();
    if (rt.standalone) mz_quit(end_standalone());
    if (rt.channel->options.show_output) flush();
    mz_quit(0);
}

MZ_EXPORT int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
                                void (*fini)(void), void (*rtld_fini)(void), void *stack_end);
int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
    typedef int start_fn(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void),
                         void (*)(void), void *);
    rt.main = main;
    return ((start_fn *)mz_next_symbol("__libc_start_main"))(our_main, argc, argv, init, fini, rtld_fini,
                                                             stack_end);
}

MZ_EXPORT void __tsan_init(void);
void __tsan_init(void) {}
