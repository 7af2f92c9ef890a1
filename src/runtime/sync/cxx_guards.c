/* Static variables of C++ functions.
 *
 * A static variable that is initialised at run time has a guard of 8 bytes. Compiled code reads the first
 * byte of the guard with an atomic load. If that byte is 0, the code asks __cxa_guard_acquire whether it has
 * to initialise the variable. Here the guard is a `once` (once.c), whose state is the second half of the
 * guard. __cxa_guard_release stores the first byte; this store is a visible operation. If an exception ends
 * the initialisation, the compiler calls __cxa_guard_abort. */
#include "runtime/core/runtime.h"
#include "runtime/sync/sync.h"

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
