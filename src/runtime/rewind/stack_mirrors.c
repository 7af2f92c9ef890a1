/* Copies of the stacks of threads, as they were at the last node. For undo.c and audit.c.
 *
 * When a thread runs, its own stack is in the log of undo.c. But other threads may write to variables on that
 * stack. If the hooks announce every write, such writes are in the log like all program memory. If they do
 * not (checkpoint), the stacks of threads that have not run are compared with these copies.
 *
 * A copy contains only the program's part of the stack, from `low` upwards. Below are frames of the runtime,
 * which change between the node and the moment when the thread goes on. */
#include "base/region.h"
#include "runtime/core/runtime.h"
#include "runtime/rewind/rewind.h"
#include "runtime/rewind/room.h"

#define mirrors mz_rewind_room.stacks

/* Make room for the copy. A thread may have got a larger stack meanwhile (fiber.c). */
static void make_room(int slot)
{
    const struct mz_slot *s = &rt.slots[slot];
    size_t size = (size_t)(s->stack_high - s->stack_low);
    if (mz_likely(mirrors[slot].stack_low == s->stack_low)) return;
    if (mirrors[slot].copy)
        mz_region_free(mirrors[slot].copy, (size_t)(mirrors[slot].stack_high - mirrors[slot].stack_low));
    mirrors[slot].copy = mz_region_reserve(size);
    MZ_ASSERT(mirrors[slot].copy != NULL);
    mirrors[slot].stack_low = s->stack_low;
    mirrors[slot].stack_high = mirrors[slot].low = s->stack_high;
}

/* Compare nothing of this stack at the next node. */
void mz_stack_forget(int slot) { mirrors[slot].low = mirrors[slot].stack_high; }

void mz_stack_mirror(int slot, const char *from)
{
    make_room(slot);
    const char *high = rt.slots[slot].stack_high;
    mz_raw_memcpy(mirrors[slot].copy + (from - mirrors[slot].stack_low), from, (size_t)(high - from));
    mirrors[slot].low = from;
}

bool mz_stack_compare(int slot, bool (*compare)(void *now, void *mirror, size_t size))
{
    make_room(slot);
    const char *low = mirrors[slot].low, *high = mirrors[slot].stack_high;
    if (low == high) return false;
    return compare((void *)(uintptr_t)low, mirrors[slot].copy + (low - mirrors[slot].stack_low),
                   (size_t)(high - low));
}
