/* Which whole object contains an address: a variable with all elements and members, a block of the heap, a stack. For the
 * engine's persistent sets (engine/persistent.c), which are to be as exact as a static analysis, not more.
 *
 * The answer may change when memory is used again. The engine allows for that. */
#include "runtime/core/runtime.h"
#include "runtime/memory/heap.h"
#include "runtime/memory/memory.h"

uint64_t mz_whole_object(void *unused, uint64_t key)
{
    (void)unused;
    if (mz_heap_contains(key)) {
        const struct mz_block *b = mz_heap_nearest(key);
        uint64_t start = b ? (uintptr_t)(b + 1) : key;
        return b && key >= start && key - start < b->size ? start : key;
    }
    int owner = mz_fiber_stack_owner(key);
    if (owner >= 0) return (uintptr_t)rt.slots[owner].stack_low;
    uint64_t variable = mz_globals_variable(key);
    return variable ? variable : key;
}
