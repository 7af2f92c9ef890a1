/* What programs in C++ need beyond pthreads: static variables of functions, call stacks through the C++
 * library, exceptions that nobody catches.
 *
 * A static variable that is initialised at run time has a guard of 8 bytes. Compiled code looks at its first
 * byte, an atomic load like any other, and if that is 0 asks __cxa_guard_acquire whether it is to initialise
 * the variable. Here this is a `once` (pthread_once.c) whose state is the second half of the guard, and
 * __cxa_guard_release stores the first byte, visibly. Exceptions on the way are the compiler's concern: it
 * calls __cxa_guard_abort. */
#define _GNU_SOURCE
#include "runtime.h"
#include "pthread_objects.h"

#include <dlfcn.h>
#include <unwind.h>

static uint32_t *state_of(uint64_t *guard) { return (uint32_t *)(void *)guard + 1; }

MZ_EXPORT int __cxa_guard_acquire(uint64_t *guard);
int __cxa_guard_acquire(uint64_t *guard)
{
    return mz_once_begin(state_of(guard), "a static variable whose guard was overwritten", MZ_PC(),
                         MZ_FRAME());
}

void __tsan_atomic8_store(volatile uint8_t *a, uint8_t value, int order);

MZ_EXPORT void __cxa_guard_release(uint64_t *guard);
void __cxa_guard_release(uint64_t *guard)
{
    __tsan_atomic8_store((uint8_t *)guard, 1, __ATOMIC_RELEASE);
    mz_once_end(state_of(guard), true, MZ_FRAME());
}

MZ_EXPORT void __cxa_guard_abort(uint64_t *guard);
void __cxa_guard_abort(uint64_t *guard) { mz_once_end(state_of(guard), false, MZ_FRAME()); }

/* ---- call stacks ---- */

/* Libraries without frame pointers hide who called them from mz_walk, but not from the unwinder, if the
 * program has one. */

typedef _Unwind_Reason_Code backtrace_fn(_Unwind_Trace_Fn, void *);
static backtrace_fn *backtrace;
static uintptr_t (*get_ip)(struct _Unwind_Context *);

static struct mz_module *unwinder; /* the library that it is in */

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
    backtrace = (backtrace_fn *)dlsym(RTLD_DEFAULT, "_Unwind_Backtrace");
    get_ip = (uintptr_t(*)(struct _Unwind_Context *))dlsym(RTLD_DEFAULT, "_Unwind_GetIP");
    if (!backtrace || is_instrumented((uintptr_t)backtrace)) backtrace = NULL;
    if (backtrace) unwinder = module_of((uintptr_t)backtrace);
}

/* Is it the unwinder that calls? It makes its tables at first use: nobody's concern, and no event. */
bool mz_cxx_is_unwinder(const void *pc)
{
    return unwinder && (uintptr_t)pc >= unwinder->start && (uintptr_t)pc < unwinder->end;
}

struct frames {
    struct mz_place *place;
    int count;
};

static _Unwind_Reason_Code add_frame(struct _Unwind_Context *context, void *data)
{
    struct frames *f = data;
    uint64_t pc = get_ip(context);
    if (!pc || f->count == MZ_MAX_FRAMES) return _URC_END_OF_STACK;
    if (!mz_is_ours(pc)) f->place->pc[f->count++] = pc;
    return _URC_NO_REASON;
}

/* The call stack of the running thread, if its innermost frame is one of a library. */
void mz_cxx_walk(struct mz_place *place)
{
    struct frames f = {place, 0};
    if (!backtrace || !get_ip || is_instrumented(place->pc[0])) return;
    backtrace(add_frame, &f);
    if (f.count < MZ_MAX_FRAMES) place->pc[f.count] = 0;
}

/* ---- exceptions ---- */

struct type_info { /* of the C++ ABI */
    const void *virtual_functions;
    const char *name;
};

/* abort() was called from this place. If that was because of an exception, say so. The thread goes no
 * further, so the library may do what it likes to the thread's memory. */
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
