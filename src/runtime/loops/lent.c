/* Parts of a thread's stack that other threads use.
 *
 * A thread's own stack is part of its local state (local.c): a loop that waits may write there and still
 * change nothing. That holds only as long as no other thread reads it. A granule of a stack is *lent* once a
 * thread other than its owner has accessed it, in any execution. From then on it is like a global variable: a
 * write of the owner to it is a change, and its contents are no part of the owner's local state, because
 * other threads write there, too.
 *
 * Invariants:
 *   I1  A lent granule stays lent, in all executions, and the other workers of the search are told.
 *   I2  The race check leaves out accesses to private bytes (mz_lent_is_private). So if an access lowers private_high,
 *       the search starts over: an earlier execution may have had a data race that the check left out. The search also
 *       starts over if a granule turns out to be lent while places where loops may be stopped are known, or rounds
 *       have a bound (rounds.c): a loop may have been stopped that wrote to it.
 *   I3  slot.private_high is at most the lowest lent address of the slot's stack, or its end: all bytes below are
 *       private. A replay cannot start over: there, nothing counts as private.
 *   I4  A granule is lent while it belongs to the frame of the function in which another thread used it. When the frame
 *       of another function lies there, the variables of that function are private. (The compiler is told to give each
 *       variable of a function a place of its own.)
 *   I5  An array may have very many granules, so neighbouring granules of one function form a range. If the
 *       tables are full, all stacks count as lent, and no loop that waits is recognised.
 *
 * Why the search finds the other thread's access although it stops the owner in its loop: take an execution
 * in which another thread accesses the granule while the owner runs its loop, up to the first such access.
 * Until then no thread has read what the rounds of the loop wrote. So without the idle rounds, the other
 * thread gets just as far. The search explores that shorter execution, and the access happens in it. */
#include "event/packet.h"
#include "runtime/loops/loops.h"
#include "runtime/loops/room.h"
#include "runtime/memory/memory.h"

#define GRANULE 8u
#define TABLE   MZ_LENT_TABLE /* not base/table.h: granules repeat, entries are removed */
#define MANY    4096u         /* bytes: a larger range simply counts as lent */

#define le mz_loops_room.lent

static uint32_t hash(uint64_t granule) { return (uint32_t)((granule * 0x9e3779b97f4a7c15ull) >> 52); }

static struct mz_lent_span *range_of(uint64_t granule, uint64_t function)
{
    for (uint32_t i = 0; i < le.range_count; i++)
        if (granule - le.ranges[i].start < le.ranges[i].end - le.ranges[i].start &&
            le.ranges[i].function == function)
            return &le.ranges[i];
    return NULL;
}

/* Is the granule lent in the frame of any function? */
static bool is_known(uint64_t granule)
{
    for (uint32_t i = 0; i < le.range_count; i++)
        if (granule - le.ranges[i].start < le.ranges[i].end - le.ranges[i].start) return true;
    for (uint32_t i = hash(granule); le.table[i].granule; i = (i + 1) % TABLE)
        if (le.table[i].granule == granule) return true;
    return false;
}

static struct mz_lent_entry *find(uint64_t granule, uint64_t function)
{
    for (uint32_t i = hash(granule); le.table[i].granule; i = (i + 1) % TABLE)
        if (le.table[i].granule == granule && le.table[i].function == function) return &le.table[i];
    return NULL;
}

/* Returns the bytes of the granule that lie in [address, address + size), as bits. */
static uint8_t bytes_of(uint64_t granule, uint64_t address, size_t size)
{
    uint64_t start = granule * GRANULE, from = address > start ? address - start : 0,
             end = address + size - start < GRANULE ? address + size - start : GRANULE;
    return (uint8_t)((0xffu >> (GRANULE - (end - from))) << from);
}

/* Returns the function whose frame contains the address, or 0. Frames are linked by their frame pointers,
 * from `frame` on; the bytes between two frame pointers belong to the function that the lower frame returns
 * to. */
static uint64_t function_of(int slot, const uint64_t *frame, uint64_t address)
{
    uint64_t start, end;
    while (mz_fiber_stack_contains(slot, (uintptr_t)frame) && (uintptr_t)frame % 8 == 0) {
        uint64_t next = frame[0];
        if (next < (uintptr_t)frame || address < next || !next)
            return address > (uintptr_t)frame && mz_globals_function(frame[1] - 1, &start, &end) ? start : 0;
        if (next == (uintptr_t)frame) return 0;
        frame = (const uint64_t *)next;
    }
    return 0;
}

/* Returns the lent bytes of the granule at p, as bits. p is on the running thread's stack. */
uint8_t mz_lent_bytes(const void *p)
{
    uint64_t granule = (uintptr_t)p / GRANULE;
    if (le.all_lent) return 0xff;
    if (!is_known(granule)) return 0;
    uint64_t function = function_of(rt.self, MZ_FRAME(), (uintptr_t)p);
    if (range_of(granule, function)) return 0xff;
    const struct mz_lent_entry *e = find(granule, function);
    return e ? e->bytes : 0;
}

/* Is any of these bytes lent? They are on the running thread's stack, not below private_high. */
bool mz_lent_contains(const void *p, size_t size)
{
    uint64_t address = (uintptr_t)p;
    if (size > MANY) return true;
    for (uint64_t g = address / GRANULE; g <= (address + size - 1) / GRANULE; g++) {
        uint64_t at = g * GRANULE > address ? g * GRANULE : address;
        if (mz_lent_bytes((const void *)at) & bytes_of(g, address, size)) return true;
    }
    return false;
}

/* Lowers private_high by more than needed, to twice the distance from the end of the stack. Otherwise a loop that goes
 * down an array would make the search start over at each step. */
static void lower_limit(int slot, uint64_t granule)
{
    struct mz_slot *s = &rt.slots[slot];
    uint64_t start = granule * GRANULE, high = (uintptr_t)s->stack_high, low = (uintptr_t)s->stack_low;
    if (start >= (uintptr_t)s->private_high) return;
    start = start < low ? low : start;
    s->private_high = s->stack_high - (high - start < (high - low) / 2 ? 2 * (high - start) : high - low);
}

/* Called when the slot has got another stack. */
void mz_lent_stack(int slot)
{
    struct mz_slot *s = &rt.slots[slot];
    s->private_high =
        rt.channel->options.mode == MZ_MODE_REPLAY || le.all_lent ? s->stack_low : s->stack_high;
    for (uint32_t i = 0; i < TABLE; i++)
        if (le.table[i].granule && mz_fiber_stack_contains(slot, le.table[i].granule * GRANULE))
            lower_limit(slot, le.table[i].granule);
    for (uint32_t i = 0; i < le.range_count; i++)
        if (mz_fiber_stack_contains(slot, le.ranges[i].start * GRANULE))
            lower_limit(slot, le.ranges[i].start);
}

static void lend_all(void)
{
    le.all_lent = true;
    for (int s = 0; s < MZ_SLOTS; s++) mz_lent_stack(s);
    if (!rt.spin_off) mz_spin_forbid("too many variables on stacks that several threads use");
}

/* Removes the entry from the table, and moves later entries up into the hole. */
static void take_out(struct mz_lent_entry *e)
{
    uint32_t hole = (uint32_t)(e - le.table);
    for (uint32_t i = (hole + 1) % TABLE; le.table[i].granule; i = (i + 1) % TABLE) {
        if ((i - hash(le.table[i].granule)) % TABLE < (i - hole) % TABLE)
            continue; /* its home slot lies behind the hole */
        le.table[hole] = le.table[i];
        hole = i;
    }
    le.table[hole] = (struct mz_lent_entry){0};
    le.count--;
}

/* All bytes of the granule are lent: put it into a range with its neighbours. Returns false if it has no
 * neighbours. */
static bool unite(uint64_t granule, uint64_t function)
{
    for (uint32_t i = 0; i < le.range_count; i++) {
        struct mz_lent_span *r = &le.ranges[i];
        if (r->function != function || (r->end != granule && r->start != granule + 1)) continue;
        if (r->end == granule)
            r->end++;
        else
            r->start--;
        return true;
    }
    for (uint64_t first = granule - 1; first <= granule && le.range_count < MZ_LENT_RANGES; first++) {
        struct mz_lent_entry *e = find(first == granule ? granule + 1 : first, function);
        if (!e || e->bytes != 0xff) continue;
        take_out(e);
        le.ranges[le.range_count++] = (struct mz_lent_span){first, first + 2, function};
        return true;
    }
    return false;
}

static void add(uint64_t granule, uint64_t function, uint8_t bytes)
{
    uint32_t i = hash(granule);
    int owner = mz_fiber_stack_owner(granule * GRANULE);
    struct mz_lent_entry *e = find(granule, function);
    if (le.all_lent || range_of(granule, function)) return;
    if (owner >= 0) lower_limit(owner, granule);
    if (e) bytes |= e->bytes;
    if (bytes == 0xff && unite(granule, function)) {
        if (e) take_out(find(granule, function));
        return;
    }
    if (e) {
        e->bytes = bytes;
        return;
    }
    if (le.count == TABLE / 2) {
        lend_all();
        return;
    }
    while (le.table[i].granule) i = (i + 1) % TABLE;
    le.table[i] = (struct mz_lent_entry){granule, function, bytes};
    le.count++;
}

/* The race check has left out accesses of the owner to the bytes that the running thread is about to access. End the
 * execution before the access: a write could destroy live frames of the owner, and its data race would not be found. */
static void start_over(void)
{
    mz_explore_restart(rt.x);
    if (rt.trial) return;
    rt.run.failed |= mz_slot_bit(rt.self);
    rt.section = 0;
    mz_fiber_leave();
}

/* The running thread accesses the stack of `owner`: another thread, or itself if the access is to a mutex or
 * the like. The contents of a mutex belong to the runtime, not to the local state of a thread. */
void mz_lent_note(int owner, uint64_t address, size_t size)
{
    const char *private_high = rt.slots[owner].private_high;
    const struct mz_parked *parked = rt.slots[owner].sp;
    const uint64_t *frame = owner == rt.self ? MZ_FRAME() : (const uint64_t *)parked->rbp;
    for (uint64_t g = address / GRANULE; g <= (address + size - 1) / GRANULE; g++) {
        uint64_t at = g * GRANULE > address ? g * GRANULE : address;
        uint64_t function = function_of(owner, frame, at);
        uint8_t bytes = bytes_of(g, address, size);
        const struct mz_lent_entry *e = find(g, function);
        if (le.all_lent || range_of(g, function) || (e && !(bytes & ~e->bytes))) continue;
        add(g, function, bytes);
        if ((mz_spin_has_places() || rt.rounds_bounded) && !rt.once) mz_explore_restart(rt.x);
    }
    if (rt.slots[owner].private_high != private_high && !rt.once) start_over();
}

void mz_lent_put(struct mz_message *m)
{
    mz_put(m, le.all_lent);
    mz_put(m, le.range_count);
    for (uint32_t i = 0; i < le.range_count; i++) {
        mz_put_long(m, mz_layout_out(le.ranges[i].start * GRANULE));
        mz_put_long(m, le.ranges[i].end - le.ranges[i].start);
        mz_put_long(m, mz_layout_out(le.ranges[i].function));
    }
    mz_put(m, le.count);
    for (uint32_t i = 0; i < TABLE; i++) {
        if (!le.table[i].granule) continue;
        mz_put_long(m, mz_layout_out(le.table[i].granule * GRANULE));
        mz_put_long(m, mz_layout_out(le.table[i].function));
        mz_put(m, le.table[i].bytes);
    }
}

void mz_lent_get(struct mz_message *m)
{
    if (mz_get(m) && !le.all_lent) lend_all();
    for (uint32_t n = mz_get_count(m, 24); n > 0; n--) {
        uint64_t start = mz_layout_in(mz_get_long(m)) / GRANULE, size = mz_get_long(m);
        uint64_t function = mz_layout_in(mz_get_long(m));
        for (uint64_t g = start; g < start + size; g++) add(g, function, 0xff);
    }
    for (uint32_t n = mz_get_count(m, 17); n > 0; n--) {
        uint64_t granule = mz_layout_in(mz_get_long(m)) / GRANULE, function = mz_layout_in(mz_get_long(m));
        add(granule, function, (uint8_t)mz_get(m));
    }
}
