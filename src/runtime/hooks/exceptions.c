/* C++ exceptions that several threads share, by std::exception_ptr, a future, or std::rethrow_exception.
 *
 * Each exception has a counter of its users, and the last user destroys it. libstdc++ decrements the counter in two
 * functions. It was not compiled with our hooks, so the counter would order nothing: the destruction would be a data
 * race with the other users. Here each of these functions is first a visible operation on the counter.
 *
 * Only decrements matter: they decide which thread destroys the exception. The end of a handler is such an operation
 * only in programs that use exception_ptr (rt.uses.exception_ptr): elsewhere an exception has one user. */
#include "runtime/core/runtime.h"
#include "runtime/hooks/hooks.h"

#include <dlfcn.h>

/* The parts of libstdc++'s header of an exception that are needed. The layout belongs to the C++ ABI. A dependent exception,
 * which rethrow_exception makes, has the same layout, with a pointer to the object of the first one at its start. */
struct exception_header {
    void *object_of_primary; /* of a dependent exception */
    void *destructor, *unexpected, *terminate;
    struct exception_header *next;
    int handlers;
    int handler_switch;
    const void *action, *language_data, *catch_temporary, *adjusted;
    uint64_t class;
    void *cleanup;
    uint64_t unwinder[2];
};
_Static_assert(sizeof(struct exception_header) == 112, "the object follows the header");

#define COUNTER_BEFORE 128 /* bytes from the counter to the object */
#define GNU_CLASS      0x474e5543432b2b00u
#define DEPENDENT      1u

static void *counter_of(void *object) { return (char *)object - COUNTER_BEFORE; }

MZ_EXPORT void
mz_exception_release(void **pointer) __asm__("_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv");
MZ_EXPORT void __cxa_end_catch(void);

void mz_exception_release(void **pointer)
{
    if (rt.active && *pointer) mz_atomic_instruction(counter_of(*pointer), sizeof(int), MZ_PC(), MZ_FRAME());
    ((void (*)(void **))mz_next_symbol("_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv"))(pointer);
}

/* The object of the exception that the end of the current handler releases; or NULL. */
static void *object_released(void)
{
    struct exception_header **(*globals)(void) =
        (struct exception_header * *(*)(void)) dlsym(RTLD_DEFAULT, "__cxa_get_globals_fast");
    struct exception_header *e = globals ? *globals() : NULL;
    if (!e || (e->class & ~(uint64_t)DEPENDENT) != GNU_CLASS || e->handlers != 1) return NULL;
    return e->class & DEPENDENT ? e->object_of_primary : e + 1;
}

void __cxa_end_catch(void)
{
    void *object = rt.active && rt.uses.exception_ptr ? object_released() : NULL;
    if (object) mz_atomic_instruction(counter_of(object), sizeof(int), MZ_PC(), MZ_FRAME());
    ((void (*)(void))mz_next_symbol("__cxa_end_catch"))();
}
