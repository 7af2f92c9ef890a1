/* C++ in reports: call stacks through the C++ library, and uncaught exceptions. For record.c, exit.c and
 * sync/once.c. */
#define _GNU_SOURCE
#include "runtime/core/room.h"
#include "runtime/core/runtime.h"

#include <dlfcn.h>
#include <unwind.h>

/* ---- call stacks ---- */

/* mz_walk cannot see the callers of a library without frame pointers. The unwinder can, if the program has
 * one. */

typedef _Unwind_Reason_Code backtrace_fn(_Unwind_Trace_Fn, void *);
#define cx mz_core_room.cxx

static struct mz_module *module_of(uint64_t pc)
{
    struct mz_channel *c = rt.channel;
    for (uint32_t i = 0; i < c->module_count; i++)
        if (pc >= c->modules[i].start && pc < c->modules[i].end) return &c->modules[i];
    return NULL;
}

static bool is_instrumented(uint64_t pc)
{
    const struct mz_module *m = module_of(pc);
    return m && (m->instrumented || m == rt.channel->modules);
}

void mz_cxx_init(void)
{
    cx.backtrace = dlsym(RTLD_DEFAULT, "_Unwind_Backtrace");
    cx.get_ip = (uintptr_t(*)(struct _Unwind_Context *))dlsym(RTLD_DEFAULT, "_Unwind_GetIP");
    if (!cx.backtrace || is_instrumented((uintptr_t)cx.backtrace)) cx.backtrace = NULL;
    if (cx.backtrace) cx.unwinder = module_of((uintptr_t)cx.backtrace);
}

/* Is pc in the unwinder? The unwinder makes its tables at its first use; that is not an event. */
bool mz_cxx_is_unwinder(const void *pc)
{
    return cx.unwinder && (uintptr_t)pc >= cx.unwinder->start && (uintptr_t)pc < cx.unwinder->end;
}

struct frames {
    struct mz_place *place;
    int count;
};

static _Unwind_Reason_Code add_frame(struct _Unwind_Context *context, void *data)
{
    struct frames *f = data;
    uint64_t pc = cx.get_ip(context);
    if (!pc || f->count == MZ_MAX_FRAMES) return _URC_END_OF_STACK;
    if (!mz_is_ours(pc)) f->place->pc[f->count++] = pc;
    return _URC_NO_REASON;
}

/* If the innermost frame of the place is in a library, replace the place by the unwinder's call stack of the
 * running thread. */
void mz_cxx_walk(struct mz_place *place)
{
    struct frames f = {place, 0};
    if (!cx.backtrace || !cx.get_ip || is_instrumented(place->pc[0])) return;
    ((backtrace_fn *)cx.backtrace)(add_frame, &f);
    if (f.count < MZ_MAX_FRAMES) place->pc[f.count] = 0;
}

/* ---- exceptions ---- */

struct type_info { /* of the C++ ABI */
    const void *virtual_functions;
    const char *name;
};

/* Return the text for abort() called at pc; if an exception caused the call, the text names its type. The
 * thread does not go on, so the C++ library may change the thread's memory. */
const char *mz_cxx_abort_text(const void *pc, char *text, size_t size)
{
    struct type_info *(*current)(void) =
        (struct type_info * (*)(void)) dlsym(RTLD_DEFAULT, "__cxa_current_exception_type");
    char *(*demangle)(const char *, char *, size_t *, int *) =
        (char *(*)(const char *, char *, size_t *, int *))dlsym(RTLD_DEFAULT, "__cxa_demangle");
    if (!current || is_instrumented((uintptr_t)pc)) return "abort() was called";
    const struct type_info *type = current();
    if (!type) return "std::terminate() was called";
    char *t = mz_text_add(text, text + size, "std::terminate() was called because of an exception, ");
    int status = -1;
    char *readable = demangle ? demangle(type->name, NULL, NULL, &status) : NULL;
    mz_text_add(t, text + size, readable && status == 0 ? readable : type->name);
    return text;
}
