/* From addresses to names: see symbolize.h. This file handles code; objects.c handles data. Both share struct
 * mz_symbols (symbolize_internal.h). */
#include "report/symbolize/symbolize_internal.h"

#include <dwarf.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "report/symbolize/cxx.h"
#include "base/memory.h"
#include "base/table.h"

static const char *module_path(const struct mz_module *m, const char *program)
{
    return m->path[0] ? m->path : program;
}

static bool is_own_library(const char *path)
{
    const char *slash = strrchr(path, '/');
    return !strncmp(slash ? slash + 1 : path, "libmazurka.so", strlen("libmazurka.so"));
}

static void report_modules(struct mz_symbols *s, const struct mz_channel *channel, const char *program)
{
    dwfl_report_begin(s->dwfl);
    for (uint32_t i = 0; i < channel->module_count && i < MZ_MAX_MODULES; i++) {
        const struct mz_module *m = &channel->modules[i];
        const char *path = module_path(m, program);
        Dwfl_Module *module = dwfl_report_elf(s->dwfl, path, path, -1, m->bias, true);
        if (!module) continue;
        if (is_own_library(path))
            s->own = module;
        else if (m->instrumented || i == 0)
            s->instrumented[s->instrumented_count] = module,
            s->tls_offset[s->instrumented_count++] = m->tls_offset;
    }
    dwfl_report_end(s->dwfl, NULL, NULL);
}

struct mz_symbols *mz_symbols_open(const struct mz_channel *channel, const char *program)
{
    struct mz_symbols *s = mz_memory_new(sizeof *s);
    unsetenv("DEBUGINFOD_URLS"); /* a report must not wait for the network */
    s->callbacks.find_elf = dwfl_build_id_find_elf;
    s->callbacks.find_debuginfo = dwfl_standard_find_debuginfo;
    s->channel = channel;
    s->moment = UINT32_MAX;
    s->directory = getcwd(NULL, 0);
    s->dwfl = dwfl_begin(&s->callbacks);
    if (s->dwfl) report_modules(s, channel, program);
    return s;
}

void mz_symbols_at_moment(struct mz_symbols *s, uint32_t moment, uint64_t frame_pc, uint64_t frame_cfa)
{
    s->moment = moment;
    s->frame_pc = frame_pc;
    s->frame_cfa = frame_cfa;
}

void mz_symbols_close(struct mz_symbols *s)
{
    if (!s) return;
    for (size_t i = 0; i < s->known_capacity; i++) mz_stack_release(&s->known[i].stack);
    free(s->known);
    mz_variables_release(&s->variables);
    mz_variables_release(&s->thread_local);
    if (s->dwfl) dwfl_end(s->dwfl);
    free(s->directory);
    free(s);
}

/* ---- code ---- */

/* clang writes no .debug_aranges, so if the index has no answer, ask every unit. */
Dwarf_Die *mz_unit_at(Dwfl_Module *module, Dwarf_Addr address, Dwarf_Addr *bias)
{
    Dwarf_Die *unit = dwfl_module_addrdie(module, address, bias);
    if (unit) return unit;
    while ((unit = dwfl_module_nextcu(module, unit, bias)))
        if (dwarf_haspc(unit, address - *bias) > 0) return unit;
    return NULL;
}

/* A path as the user would write it: relative to where the command runs, if it is below. */
static char *display_path(const struct mz_symbols *s, Dwarf_Die *unit, const char *path)
{
    Dwarf_Attribute a;
    const char *compiled_in = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &a));
    size_t length = s->directory ? strlen(s->directory) : 0;
    while (!strncmp(path, "./", 2)) path += 2;
    char *full =
        path[0] == '/' || !compiled_in ? mz_memory_string(path) : mz_format("%s/%s", compiled_in, path);
    if (!length || strncmp(full, s->directory, length) != 0 || full[length] != '/') return full;
    const char *rest = full + length + 1;
    while (!strncmp(rest, "./", 2)) rest += 2;
    char *relative = mz_memory_string(rest);
    free(full);
    return relative;
}

/* The functions around an address, outermost first: a subprogram, then what was inlined into it. */
static size_t functions_around(Dwarf_Die *parent, Dwarf_Addr pc, Dwarf_Die *found, size_t room)
{
    Dwarf_Die die;
    if (room == 0 || dwarf_child(parent, &die) != 0) return 0;
    do {
        int tag = dwarf_tag(&die);
        bool function = tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
        if (!function && tag != DW_TAG_lexical_block && tag != DW_TAG_namespace) continue;
        if (tag != DW_TAG_namespace && dwarf_haspc(&die, pc) <= 0) continue;
        if (function) found[0] = die;
        size_t inner = functions_around(&die, pc, found + function, room - function);
        if (function || inner) return inner + function;
    } while (dwarf_siblingof(&die, &die) == 0);
    return 0;
}

static const char *file_by_number(Dwarf_Die *unit, uint64_t number)
{
    Dwarf_Files *files;
    size_t count;
    if (dwarf_getsrcfiles(unit, &files, &count) != 0 || number >= count) return NULL;
    return dwarf_filesrc(files, (size_t)number, NULL, NULL);
}

static void add_frame(struct mz_symbols *s, struct mz_stack *stack, Dwarf_Die *unit, const char *function,
                      const char *file, unsigned line)
{
    char *path = file ? display_path(s, unit, file) : NULL;
    mz_stack_add(stack, function, path, line);
    free(path);
}

/* The full name where there is one, as in C++. Functions of C have only the short one, and so have, from gcc,
 * the bodies of lambda expressions. A new string. */
static char *function_name(Dwarf_Die *function)
{
    Dwarf_Attribute a;
    const char *full = dwarf_formstring(dwarf_attr_integrate(function, DW_AT_linkage_name, &a));
    const char *name = dwarf_diename(function);
    if (!full && name && !strcmp(name, "operator()")) return mz_memory_string("lambda");
    return mz_cxx_name(full ? full : name ? name : "?");
}

/* Frames from DWARF, innermost first. */
static void frames_in_unit(struct mz_symbols *s, struct mz_stack *stack, Dwarf_Die *unit, Dwarf_Addr pc,
                           const char *symbol)
{
    Dwarf_Die around[16];
    Dwarf_Line *row = dwarf_getsrc_die(unit, pc);
    const char *file = row ? dwarf_linesrc(row, NULL, NULL) : NULL;
    int line = 0;
    if (row) dwarf_lineno(row, &line);
    size_t count = functions_around(unit, pc, around, sizeof around / sizeof *around);
    while (count-- > 0) {
        char *name = function_name(&around[count]);
        add_frame(s, stack, unit, name, file, (unsigned)line);
        free(name);
        if (dwarf_tag(&around[count]) != DW_TAG_inlined_subroutine) return;
        file = file_by_number(unit, mz_type_number(&around[count], DW_AT_call_file, UINT64_MAX));
        line = (int)mz_type_number(&around[count], DW_AT_call_line, 0);
    }
    if (stack->count == 0 && symbol) add_frame(s, stack, unit, symbol, file, (unsigned)line);
}

static void find_frames(struct mz_symbols *s, uint64_t pc, struct mz_stack *stack)
{
    Dwarf_Addr address = pc - 1, bias = 0;
    Dwfl_Module *module = s->dwfl ? dwfl_addrmodule(s->dwfl, address) : NULL;
    const char *symbol = module ? dwfl_module_addrname(module, address) : NULL;
    Dwarf_Die *unit = module ? mz_unit_at(module, address, &bias) : NULL;
    if (unit) frames_in_unit(s, stack, unit, address - bias, symbol);
    if (stack->count > 0) return;
    char *name = symbol ? mz_cxx_name(symbol) : mz_format("0x%" PRIx64, address);
    mz_stack_add(stack, name, NULL, 0);
    free(name);
}

static struct mz_known_pc *slot_for(struct mz_known_pc *table, size_t capacity, uint64_t pc)
{
    return mz_key_find(table, sizeof *table, (uint32_t)capacity - 1, mz_table_hash(pc), pc);
}

static void grow_known(struct mz_symbols *s)
{
    size_t capacity = s->known_capacity ? 2 * s->known_capacity : 256;
    struct mz_known_pc *table = mz_memory_new(capacity * sizeof *table);
    for (size_t i = 0; i < s->known_capacity; i++)
        if (s->known[i].pc) *slot_for(table, capacity, s->known[i].pc) = s->known[i];
    free(s->known);
    s->known = table;
    s->known_capacity = capacity;
}

const struct mz_stack *mz_symbols_at(struct mz_symbols *s, uint64_t pc)
{
    if (2 * (s->known_count + 1) > s->known_capacity) grow_known(s);
    struct mz_known_pc *k = slot_for(s->known, s->known_capacity, pc);
    if (!k->pc) {
        k->pc = pc;
        s->known_count++;
        find_frames(s, pc, &k->stack);
    }
    return &k->stack;
}

char *mz_symbols_function(struct mz_symbols *s, uint64_t address)
{
    const struct mz_stack *at = address ? mz_symbols_at(s, address + 1) : NULL;
    if (!at || !strncmp(at->frames[at->count - 1].function, "0x", 2)) return NULL;
    return mz_memory_string(at->frames[at->count - 1].function);
}

/* ---- call stacks ---- */

static bool is_own_code(struct mz_symbols *s, uint64_t pc)
{
    return s->own && dwfl_addrmodule(s->dwfl, pc - 1) == s->own;
}

static bool is_below_main(const char *function)
{
    return !strncmp(function, "__libc_start", 12) || !strcmp(function, "_start") ||
           !strcmp(function, "start_thread") || !strcmp(function, "clone3");
}

/* Frames that only lead to and from the user's code: headers of the C++ library, and code without a name. */
static void drop_detours(struct mz_stack *stack)
{
    size_t kept = 0;
    if (mz_stack_user(stack) == NULL) return;
    for (size_t i = 0; i < stack->count; i++) {
        struct mz_frame *f = &stack->frames[i];
        bool detour = f->file ? mz_cxx_is_library(f->file) : !strncmp(f->function, "0x", 2);
        if (!detour) {
            stack->frames[kept++] = *f;
            continue;
        }
        free(f->function);
        free(f->file);
    }
    stack->count = kept;
}

static void walk_stack(struct mz_symbols *s, const struct mz_place *place, struct mz_stack *out)
{
    for (int i = 0; i < MZ_MAX_FRAMES && place->pc[i]; i++) {
        if (is_own_code(s, place->pc[i])) continue;
        const struct mz_stack *at = mz_symbols_at(s, place->pc[i]);
        if (is_below_main(at->frames[0].function)) return;
        mz_stack_copy(out, at);
        if (!strcmp(at->frames[at->count - 1].function, "main")) return;
    }
}

void mz_symbols_stack(struct mz_symbols *s, const struct mz_place *place, struct mz_stack *out)
{
    walk_stack(s, place, out);
    drop_detours(out);
}

const struct mz_frame *mz_stack_source(const struct mz_stack *stack)
{
    for (size_t i = 0; i < stack->count; i++)
        if (stack->frames[i].file && !mz_cxx_is_library(stack->frames[i].file)) return &stack->frames[i];
    for (size_t i = 0; i < stack->count; i++)
        if (stack->frames[i].file) return &stack->frames[i];
    return stack->count ? &stack->frames[0] : NULL;
}

const struct mz_frame *mz_stack_user(const struct mz_stack *stack)
{
    for (size_t i = stack->count; i-- > 0;)
        if (stack->frames[i].file && !mz_cxx_is_library(stack->frames[i].file)) return &stack->frames[i];
    return NULL;
}
