/* How many bytes of its stack a new thread finds cleared.
 *
 * Local states are compared byte by byte (local.c), and a frame may have bytes that the function never sets,
 * such as padding. Data that an earlier execution left there must not decide when a thread stops in a loop.
 * So where local states are compared, a thread starts on a stack that is zero as far down as the comparison
 * reaches.
 *
 * Invariants:
 *   I1  clean.bytes only grows, and is the same in all executions that count: when it grows, the search starts
 *       over.
 *   I2  clean.bytes is at least the depth of every local state that is compared. A replay cannot start over:
 *       the first thread of a slot finds untouched pages, and for later threads the whole stack is cleared.
 *
 * Deeper local states cost more: going back copies clean.bytes of each stack (undo.c). So the size starts
 * small, which is enough for nearly all loops. */
#include "event/packet.h"
#include "runtime/loops/room.h"
#include "runtime/loops/spin.h"

#define LEAST    1024u
#define NEXT     32768u /* from here on it doubles */
#define STATEFUL 4096u  /* for state.c */

#define clean mz_loops_room.clean

static bool is_replay(void) { return rt.channel->options.mode == MZ_MODE_REPLAY; }

static void grow(size_t bytes)
{
    MZ_ASSERT(bytes <= MZ_LOCAL_STACK);
    if (clean.bytes < bytes) clean.bytes = NEXT;
    while (clean.bytes < bytes) clean.bytes *= 2;
}

void mz_clean_init(void) { clean.bytes = is_replay() ? NEXT : LEAST; }

void mz_clean_need(size_t depth)
{
    if (mz_likely(depth <= clean.bytes) || is_replay()) return;
    grow(depth);
    mz_explore_restart(rt.x);
}

size_t mz_spin_clean_size(void)
{
    if (rt.stateful) return STATEFUL;
    return rt.rounds_bounded || mz_spin_has_places() ? clean.bytes : 0;
}

void mz_spin_clean(int slot)
{
    size_t size = mz_spin_clean_size();
    if (!size) return;
    if (is_replay() && clean.used & mz_slot_bit(slot)) size = MZ_LOCAL_STACK;
    clean.used |= mz_slot_bit(slot);
    mz_raw_memset(rt.slots[slot].stack_high - size, 0, size);
}

void mz_clean_put(struct mz_message *m) { mz_put(m, clean.bytes); }

void mz_clean_get(struct mz_message *m)
{
    uint32_t bytes = mz_get(m);
    if (bytes <= MZ_LOCAL_STACK)
        grow(bytes);
    else
        m->bad = true;
}
