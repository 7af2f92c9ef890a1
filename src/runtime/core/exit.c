/* How the program ends: exit and its handlers, destructors, abort, assertions.
 *
 * The thread that calls exit, or that ends last, runs all handlers within the execution. First it runs the
 * handlers of atexit and on_exit and the C++ destructors, in reverse order of registration, including those
 * registered before main. Then it runs the destructor functions of the executable and its libraries; a module
 * comes before the modules that it needs. libc's own list of handlers stays empty. */
#define _GNU_SOURCE
#include "runtime/core/operation.h"
#include "runtime/core/room.h"
#include "runtime/memory/memory.h"
#include "runtime/rewind/rewind.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ex mz_core_room.exit

static int add(struct mz_exit_list *list, struct mz_exit_handler h)
{
    uint32_t *count = rt.active ? &list->count : &list->early_count;
    if (*count == MZ_EXIT_HANDLERS) return -1;
    mz_changed();
    mz_keep_state(count, sizeof *count);
    if (rt.active) mz_keep_state(&list->entries[*count], sizeof *list->entries);
    (rt.active ? list->entries : list->early)[(*count)++] = h;
    if (*count > list->most) list->most = *count;
    list->changed = true;
    return 0;
}

static void call(const struct mz_exit_handler *h)
{
    if (h->function && h->takes_status)
        ((void (*)(int, void *))h->function)(rt.run.exit_code, h->argument);
    else if (h->function)
        ((void (*)(void *))h->function)(h->argument);
}

/* Run the handlers from the last to the first. A handler that a handler registers runs next. */
static void run(struct mz_exit_list *list)
{
    list->changed = true;
    mz_keep_state(&list->count, sizeof list->count);
    while (list->count) {
        mz_keep_state(&list->count, sizeof list->count); /* there may have been events since */
        struct mz_exit_handler h = list->entries[--list->count];
        call(&h);
    }
}

static void start_over(struct mz_exit_list *list)
{
    if (!list->changed) return;
    mz_raw_memset(list->entries, 0, list->most * sizeof *list->entries); /* the state contains the entries */
    list->most = list->early_count;
    mz_raw_memcpy(list->entries, list->early, list->early_count * sizeof *list->early);
    list->count = list->early_count;
    list->changed = false;
}

void mz_exit_reset(void)
{
    start_over(&ex.at_exit);
    start_over(&ex.at_quick);
}

MZ_EXPORT int __cxa_atexit(void (*function)(void *), void *argument, void *dso);
int __cxa_atexit(void (*function)(void *), void *argument, void *dso)
{
    return add(&ex.at_exit, (struct mz_exit_handler){(void (*)(void))function, argument, dso, false});
}

MZ_EXPORT int __cxa_at_quick_exit(void (*function)(void *), void *dso);
int __cxa_at_quick_exit(void (*function)(void *), void *dso)
{
    return add(&ex.at_quick, (struct mz_exit_handler){(void (*)(void))function, NULL, dso, false});
}

MZ_EXPORT int on_exit(void (*function)(int, void *), void *argument)
{
    return add(&ex.at_exit, (struct mz_exit_handler){(void (*)(void))function, argument, NULL, true});
}

/* A library is unloaded (dlclose), or the program ends (dso is NULL): run its handlers. */
MZ_EXPORT void __cxa_finalize(void *dso);
void __cxa_finalize(void *dso)
{
    if (!rt.active) return;
    for (uint32_t i = ex.at_exit.count; i-- > 0;) {
        struct mz_exit_handler h = ex.at_exit.entries[i];
        if (!h.function || (dso && h.dso != dso)) continue;
        mz_keep_state(&ex.at_exit.entries[i], sizeof ex.at_exit.entries[i]);
        ex.at_exit.entries[i].function = NULL;
        ex.at_exit.changed = true;
        call(&h);
    }
}

/* ---- destructor functions ---- */

static const char *last_part(const char *path)
{
    const char *name = path;
    for (; *path; path++)
        if (*path == '/') name = path + 1;
    return name;
}

static int collect(struct dl_phdr_info *info, size_t size, void *data)
{
    const ElfW(Dyn) *dyn = NULL;
    const char *names = NULL;
    uint64_t bias = info->dlpi_addr;
    (void)size, (void)data;
    if (mz_is_system(info) || ex.ends.count == MZ_EXIT_MODULES) return 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) dyn = (const void *)(bias + info->dlpi_phdr[i].p_vaddr);
    struct mz_exit_module *m = &ex.ends.modules[ex.ends.count++];
    *m = (struct mz_exit_module){.name = last_part(info->dlpi_name)};
    const ElfW(Dyn) *first = dyn;
    for (; dyn && dyn->d_tag != DT_NULL; dyn++) {
        if (dyn->d_tag == DT_STRTAB)
            names = (const char *)(dyn->d_un.d_ptr < bias ? bias : 0) + dyn->d_un.d_ptr;
        if (dyn->d_tag == DT_FINI_ARRAY) m->array = (void (**)(void))(bias + dyn->d_un.d_ptr);
        if (dyn->d_tag == DT_FINI_ARRAYSZ) m->count = dyn->d_un.d_val / sizeof *m->array;
        if (dyn->d_tag == DT_FINI) m->fini = (void (*)(void))(bias + dyn->d_un.d_ptr);
    }
    for (dyn = first; dyn && names && dyn->d_tag != DT_NULL; dyn++) {
        if (dyn->d_tag == DT_SONAME) m->name = names + dyn->d_un.d_val;
        if (dyn->d_tag == DT_NEEDED && m->needed_count < MZ_EXIT_NEEDED)
            m->needed[m->needed_count++] = names + dyn->d_un.d_val;
    }
    return 0;
}

static bool still_needed(const struct mz_exit_module *m)
{
    for (size_t i = 0; i < ex.ends.count; i++)
        for (size_t k = 0;
             !ex.ends.modules[i].ran && &ex.ends.modules[i] != m && k < ex.ends.modules[i].needed_count; k++)
            if (!strcmp(ex.ends.modules[i].needed[k], m->name)) return true;
    return false;
}

/* Return a module that no other remaining module needs. If the remaining modules form a cycle, return the
 * module that was loaded first. NULL: no module remains. */
static struct mz_exit_module *next_module(void)
{
    struct mz_exit_module *any = NULL;
    for (size_t i = 0; i < ex.ends.count; i++) {
        struct mz_exit_module *m = &ex.ends.modules[i];
        if (m->ran) continue;
        if (!still_needed(m)) return m;
        if (!any) any = m;
    }
    return any;
}

static void collect_all(void)
{
    ex.ends.count = 0;
    dl_iterate_phdr(collect, NULL);
}

static void run_destructors(void)
{
    struct mz_exit_module *m;
    mz_keep(&ex.ends, sizeof ex.ends);
    collect_all();
    mz_globals_keep_completed();
    while ((m = next_module())) {
        mz_keep(&m->ran, sizeof m->ran);
        m->ran = true;
        for (size_t i = m->count; i-- > 0;) m->array[i]();
        if (m->fini) m->fini();
    }
}

/* Find out whether the end of the program runs code of the program. */
void mz_exit_init(void)
{
    collect_all();
    /* Every module has one destructor function of the compiler. */
    for (size_t i = 0; i < ex.ends.count; i++) ex.has_destructors |= ex.ends.modules[i].count > 1;
    mz_exit_reset();
}

bool mz_exit_matters(void) { return ex.has_destructors || ex.at_exit.count || rt.modules_changed; }

void mz_run_atexit(void)
{
    if (!mz_exit_matters()) return;
    run(&ex.at_exit);
    run_destructors();
}

/* ---- the ways to end ---- */

MZ_EXPORT _Noreturn void exit(int code)
{
    if (rt.active) mz_exit_program(code, true);
    ((void (*)(int))mz_next_symbol("exit"))(code);
    __builtin_unreachable();
}

MZ_EXPORT _Noreturn void _exit(int code)
{
    if (rt.active) mz_exit_program(code, false);
    mz_quit(code);
}
MZ_EXPORT _Noreturn void _Exit(int code) { _exit(code); }

MZ_EXPORT _Noreturn void quick_exit(int code)
{
    if (rt.active) run(&ex.at_quick);
    _exit(code);
}

MZ_EXPORT _Noreturn void abort(void)
{
    if (rt.active) {
        rt.up.signals_abort();
        char text[MZ_TEXT];
        mz_finding_here(MZ_KIND_CRASH, mz_cxx_abort_text(MZ_PC(), text, sizeof text), 6, 0);
    }
    mz_failed_before_main("abort() was called", NULL, 0);
}

MZ_EXPORT _Noreturn void __assert_fail(const char *expression, const char *file, unsigned line,
                                       const char *function);
_Noreturn void __assert_fail(const char *expression, const char *file, unsigned line, const char *function)
{
    if (rt.active) mz_finding_assert(expression, file, line, function);
    char text[MZ_TEXT], *end = text + sizeof text;
    mz_text_add(mz_text_add(text, end, "assertion failed: "), end, expression);
    mz_failed_before_main(text, file, line);
}

MZ_EXPORT _Noreturn void __stack_chk_fail(void);
_Noreturn void __stack_chk_fail(void)
{
    mz_finding_here(MZ_KIND_CRASH, "a buffer on the stack overflowed (stack protector)", 6, 0);
}
