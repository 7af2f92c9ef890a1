/* How the program ends: exit and its handlers, destructors, abort, assertions.
 *
 * All that exit() runs is run within the execution, by the thread that calls exit (or is the last to end):
 * handlers of atexit and on_exit and C++ destructors in reverse order, also those registered before main,
 * then the destructor functions of the executable and its libraries, users before what they use. libc's own
 * list of handlers stays empty. */
#define _GNU_SOURCE
#include "kernel.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HANDLERS 1024
#define MODULES  64
#define NEEDED   32

struct handler {
    void (*function)(void); /* NULL: already run by __cxa_finalize */
    void *argument, *dso;
    bool takes_status;
};

struct list {
    struct handler early[HANDLERS], entries[HANDLERS]; /* early: from before main, kept */
    uint32_t early_count, count;
    uint32_t most; /* entries in use in this execution */
    bool changed;
};

static struct list at_exit, at_quick;

static int add(struct list *list, struct handler h)
{
    uint32_t *count = rt.active ? &list->count : &list->early_count;
    if (*count == HANDLERS) return -1;
    mz_changed();
    mz_keep_state(count, sizeof *count);
    if (rt.active) mz_keep_state(&list->entries[*count], sizeof *list->entries);
    (rt.active ? list->entries : list->early)[(*count)++] = h;
    if (*count > list->most) list->most = *count;
    list->changed = true;
    return 0;
}

static void call(const struct handler *h)
{
    if (h->function && h->takes_status)
        ((void (*)(int, void *))h->function)(rt.run.exit_code, h->argument);
    else if (h->function)
        ((void (*)(void *))h->function)(h->argument);
}

/* From the last to the first; what a handler registers is run next. */
static void run(struct list *list)
{
    list->changed = true;
    mz_keep_state(&list->count, sizeof list->count);
    while (list->count) {
        mz_keep_state(&list->count, sizeof list->count); /* there may have been events since */
        struct handler h = list->entries[--list->count];
        call(&h);
    }
}

static void start_over(struct list *list)
{
    if (!list->changed) return;
    mz_raw_memset(list->entries, 0, list->most * sizeof *list->entries); /* part of the state: state.c */
    list->most = list->early_count;
    mz_raw_memcpy(list->entries, list->early, list->early_count * sizeof *list->early);
    list->count = list->early_count;
    list->changed = false;
}

void mz_exit_reset(void)
{
    start_over(&at_exit);
    start_over(&at_quick);
}

MZ_EXPORT int __cxa_atexit(void (*function)(void *), void *argument, void *dso);
int __cxa_atexit(void (*function)(void *), void *argument, void *dso)
{
    return add(&at_exit, (struct handler){(void (*)(void))function, argument, dso, false});
}

MZ_EXPORT int __cxa_at_quick_exit(void (*function)(void *), void *dso);
int __cxa_at_quick_exit(void (*function)(void *), void *dso)
{
    return add(&at_quick, (struct handler){(void (*)(void))function, NULL, dso, false});
}

MZ_EXPORT int on_exit(void (*function)(int, void *), void *argument)
{
    return add(&at_exit, (struct handler){(void (*)(void))function, argument, NULL, true});
}

/* A library goes (dlclose) or the program ends: its handlers are due. */
MZ_EXPORT void __cxa_finalize(void *dso);
void __cxa_finalize(void *dso)
{
    if (!rt.active) return;
    for (uint32_t i = at_exit.count; i-- > 0;) {
        struct handler h = at_exit.entries[i];
        if (!h.function || (dso && h.dso != dso)) continue;
        mz_keep_state(&at_exit.entries[i], sizeof at_exit.entries[i]);
        at_exit.entries[i].function = NULL;
        at_exit.changed = true;
        call(&h);
    }
}

/* ---- destructor functions ---- */

struct module {
    const char *name, *needed[NEEDED];
    void (**array)(void), (*fini)(void);
    size_t count, needed_count;
    bool ran;
};

static struct {
    struct module modules[MODULES];
    size_t count;
} ends;

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
    if (mz_is_system(info) || ends.count == MODULES) return 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) dyn = (const void *)(bias + info->dlpi_phdr[i].p_vaddr);
    struct module *m = &ends.modules[ends.count++];
    *m = (struct module){.name = last_part(info->dlpi_name)};
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
        if (dyn->d_tag == DT_NEEDED && m->needed_count < NEEDED)
            m->needed[m->needed_count++] = names + dyn->d_un.d_val;
    }
    return 0;
}

static bool still_needed(const struct module *m)
{
    for (size_t i = 0; i < ends.count; i++)
        for (size_t k = 0; !ends.modules[i].ran && &ends.modules[i] != m && k < ends.modules[i].needed_count;
             k++)
            if (!strcmp(ends.modules[i].needed[k], m->name)) return true;
    return false;
}

/* Users before what they use; a circle is entered where it was loaded first. */
static struct module *next_module(void)
{
    struct module *any = NULL;
    for (size_t i = 0; i < ends.count; i++) {
        struct module *m = &ends.modules[i];
        if (m->ran) continue;
        if (!still_needed(m)) return m;
        if (!any) any = m;
    }
    return any;
}

static void collect_all(void)
{
    ends.count = 0;
    dl_iterate_phdr(collect, NULL);
}

static void run_destructors(void)
{
    struct module *m;
    mz_keep(&ends, sizeof ends);
    collect_all();
    mz_globals_keep_completed();
    while ((m = next_module())) {
        mz_keep(&m->ran, sizeof m->ran);
        m->ran = true;
        for (size_t i = m->count; i-- > 0;) m->array[i]();
        if (m->fini) m->fini();
    }
}

/* Does the end of the program mean anything beyond what the C library does? */
static bool has_destructors;

void mz_exit_init(void)
{
    collect_all();
    /* Every module has one, of the compiler. */
    for (size_t i = 0; i < ends.count; i++) has_destructors |= ends.modules[i].count > 1;
    mz_exit_reset();
}

bool mz_exit_matters(void) { return has_destructors || at_exit.count || rt.modules_changed; }

void mz_run_atexit(void)
{
    if (!mz_exit_matters()) return;
    run(&at_exit);
    run_destructors();
}

/* ---- the ways to end ---- */

/* End the process, now. */
_Noreturn void mz_quit(int code)
{
    mz_worker_leaves();
    mz_sys(SYS_exit_group, code);
    __builtin_unreachable();
}

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
    if (rt.active) run(&at_quick);
    _exit(code);
}

MZ_EXPORT _Noreturn void abort(void)
{
    if (rt.active) {
        mz_signals_abort();
        char text[MZ_TEXT];
        mz_finding_here(MZ_KIND_CRASH, mz_cxx_abort_text(MZ_PC(), text, sizeof text), 6, 0);
    }
    mz_print("mazurka: abort() was called before main\n");
    mz_quit(2);
}

MZ_EXPORT _Noreturn void __assert_fail(const char *expression, const char *file, unsigned line,
                                       const char *function);
_Noreturn void __assert_fail(const char *expression, const char *file, unsigned line, const char *function)
{
    if (rt.active) mz_finding_assert(expression, file, line, function);
    mz_print("mazurka: assertion failed before main: ");
    mz_print(expression);
    mz_print("\n");
    mz_quit(2);
}

MZ_EXPORT _Noreturn void __stack_chk_fail(void);
_Noreturn void __stack_chk_fail(void)
{
    mz_finding_here(MZ_KIND_CRASH, "a buffer on the stack overflowed (stack protector)", 6, 0);
}
