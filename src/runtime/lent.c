/* Parts of a thread's stack that other threads use.
 *
 * A thread's own stack is part of its local state, and spin.c compares it: a loop that waits may write there
 * and still change nothing. That is so only as long as no other thread looks. A granule of a stack that a
 * thread other than its owner accesses, in whichever execution, is lent: from then on it is like a global
 * variable. A write of the owner to it is a change, and what it contains is no part of the owner's local
 * state: other threads write there, too.
 *
 * Invariants:
 *   I1  What is lent stays lent, in all executions; it is handed to the other workers of a search.
 *   I2  If a granule turns out to be lent while places where loops may be stopped are known, or rounds have a bound
 *       (rounds.c), the search starts over: a loop may have been stopped that wrote to it. The same if the race
 *       check has left out accesses to private memory (mz_lent_leave_out).
 *   I3  slot.private_high is the lowest lent address of the slot's stack, or its end: what is below is private.
 *       When a schedule is replayed there is no second time: nothing counts as private.
 *   I4  A granule is lent while it belongs to the frame of the same function as when another thread used it:
 *       where the frame of another function comes to lie, its variables are its own. (The compiler is told to
 *       give each variable of a function a place of its own.)
 *   I5  An array may have very many granules: neighbours of one function are united to a range. If there is no room
 *       for more, all of every stack is lent, and no loop that waits is recognised.
 *
 * Why the access of the other thread is found although the loop is stopped: take an execution in which another
 * thread accesses the granule while the owner goes round its loop, up to the first such access. Until then
 * nobody has seen what the rounds wrote, so without the idle rounds the other thread gets just as far. That
 * shorter execution is one of those that the search explores, and the access is made in it. */
#include "rounds.h"

#include "../event/message.h"

#define GRANULE 8u
#define TABLE   4096u /* open addressing, at most half full */
#define MANY    4096u /* bytes: of more it is not asked exactly */

static struct entry {
    uint64_t granule;  /* number; 0: free */
    uint64_t function; /* whose frame it was in; 0: not known */
    uint8_t bytes;     /* of the granule that are lent: what is beside may be a variable of the owner alone */
} table[TABLE];
static uint32_t count;

#define RANGES 64u
static struct range {
    uint64_t start, end; /* granules, each lent as a whole; none of them is in the table */
    uint64_t function;
} ranges[RANGES];
static uint32_t range_count;
static bool all_lent; /* see I5 */

static uint32_t hash(uint64_t granule) { return (uint32_t)((granule * 0x9e3779b97f4a7c15ull) >> 52); }

static struct range *range_of(uint64_t granule, uint64_t function)
{
    for (uint32_t i = 0; i < range_count; i++)
        if (granule - ranges[i].start < ranges[i].end - ranges[i].start && ranges[i].function == function)
            return &ranges[i];
    return NULL;
}

/* For whatever function. */
static bool is_known(uint64_t granule)
{
    for (uint32_t i = 0; i < range_count; i++)
        if (granule - ranges[i].start < ranges[i].end - ranges[i].start) return true;
    for (uint32_t i = hash(granule); table[i].granule; i = (i + 1) % TABLE)
        if (table[i].granule == granule) return true;
    return false;
}

static struct entry *find(uint64_t granule, uint64_t function)
{
    for (uint32_t i = hash(granule); table[i].granule; i = (i + 1) % TABLE)
        if (table[i].granule == granule && table[i].function == function) return &table[i];
    return NULL;
}

/* Those of the granule that are among so many bytes from there on. */
static uint8_t bytes_of(uint64_t granule, uint64_t address, size_t size)
{
    uint64_t start = granule * GRANULE, from = address > start ? address - start : 0,
             end = address + size - start < GRANULE ? address + size - start : GRANULE;
    return (uint8_t)((0xffu >> (GRANULE - (end - from))) << from);
}

/* The function in whose frame the address is. Frames are linked by their frame pointers, from `frame` on;
 * what is between two of them belongs to the function that the lower one returns to. */
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

/* Those bytes of the granule at p, which is on the running thread's stack, that others use. */
uint8_t mz_lent_bytes(const void *p)
{
    uint64_t granule = (uintptr_t)p / GRANULE;
    if (all_lent) return 0xff;
    if (!is_known(granule)) return 0;
    uint64_t function = function_of(rt.self, MZ_FRAME(), (uintptr_t)p);
    if (range_of(granule, function)) return 0xff;
    const struct entry *e = find(granule, function);
    return e ? e->bytes : 0;
}

/* Does the thread write to what others use? It is on its own stack, not below private_high. */
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

static void lower_limit(int slot, uint64_t granule)
{
    struct mz_slot *s = &rt.slots[slot];
    char *start = (char *)(granule * GRANULE);
    if (start < s->private_high) s->private_high = start < s->stack_low ? s->stack_low : start;
}

/* The slot has got another stack. */
void mz_lent_stack(int slot)
{
    struct mz_slot *s = &rt.slots[slot];
    s->private_high = rt.channel->options.mode == MZ_MODE_REPLAY || all_lent ? s->stack_low : s->stack_high;
    for (uint32_t i = 0; i < TABLE; i++)
        if (table[i].granule && mz_fiber_stack_contains(slot, table[i].granule * GRANULE))
            lower_limit(slot, table[i].granule);
    for (uint32_t i = 0; i < range_count; i++)
        if (mz_fiber_stack_contains(slot, ranges[i].start * GRANULE)) lower_limit(slot, ranges[i].start);
}

static void lend_all(void)
{
    all_lent = true;
    for (int s = 0; s < MZ_SLOTS; s++) mz_lent_stack(s);
    if (!rt.spin_off) mz_spin_forbid("too many variables on stacks that several threads use");
}

/* Take the entry out of the table. Later ones that it was in the way of move up. */
static void take_out(struct entry *e)
{
    uint32_t hole = (uint32_t)(e - table);
    for (uint32_t i = (hole + 1) % TABLE; table[i].granule; i = (i + 1) % TABLE) {
        if ((i - hash(table[i].granule)) % TABLE < (i - hole) % TABLE)
            continue; /* it is behind its place already */
        table[hole] = table[i];
        hole = i;
    }
    table[hole] = (struct entry){0};
    count--;
}

/* All bytes of the granule are lent. Is it now part of a range? */
static bool unite(uint64_t granule, uint64_t function)
{
    for (uint32_t i = 0; i < range_count; i++) {
        struct range *r = &ranges[i];
        if (r->function != function || (r->end != granule && r->start != granule + 1)) continue;
        if (r->end == granule)
            r->end++;
        else
            r->start--;
        return true;
    }
    for (uint64_t first = granule - 1; first <= granule && range_count < RANGES; first++) {
        struct entry *e = find(first == granule ? granule + 1 : first, function);
        if (!e || e->bytes != 0xff) continue;
        take_out(e);
        ranges[range_count++] = (struct range){first, first + 2, function};
        return true;
    }
    return false;
}

static void add(uint64_t granule, uint64_t function, uint8_t bytes)
{
    uint32_t i = hash(granule);
    int owner = mz_fiber_stack_owner(granule * GRANULE);
    struct entry *e = find(granule, function);
    if (all_lent || range_of(granule, function)) return;
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
    if (count == TABLE / 2) {
        lend_all();
        return;
    }
    while (table[i].granule) i = (i + 1) % TABLE;
    table[i] = (struct entry){granule, function, bytes};
    count++;
}

/* The running thread accesses the stack of another one, or uses a mutex or the like on any: what we keep in
 * those is nobody's local state. */
void mz_lent_note(int owner, uint64_t address, size_t size)
{
    const struct mz_parked *parked = rt.slots[owner].sp;
    const uint64_t *frame = owner == rt.self ? MZ_FRAME() : (const uint64_t *)parked->rbp;
    for (uint64_t g = address / GRANULE; g <= (address + size - 1) / GRANULE; g++) {
        uint64_t at = g * GRANULE > address ? g * GRANULE : address;
        uint64_t function = function_of(owner, frame, at);
        uint8_t bytes = bytes_of(g, address, size);
        const struct entry *e = find(g, function);
        if (all_lent || range_of(g, function) || (e && !(bytes & ~e->bytes))) continue;
        add(g, function, bytes);
        if ((mz_spin_has_places() || mz_rounds_bounded || rt.access_left_out) && !rt.once)
            mz_explore_restart(rt.x);
    }
}

void mz_lent_put(struct mz_message *m)
{
    mz_put(m, all_lent);
    mz_put(m, range_count);
    for (uint32_t i = 0; i < range_count; i++) {
        mz_put_long(m, mz_layout_out(ranges[i].start * GRANULE));
        mz_put_long(m, ranges[i].end - ranges[i].start);
        mz_put_long(m, mz_layout_out(ranges[i].function));
    }
    mz_put(m, count);
    for (uint32_t i = 0; i < TABLE; i++) {
        if (!table[i].granule) continue;
        mz_put_long(m, mz_layout_out(table[i].granule * GRANULE));
        mz_put_long(m, mz_layout_out(table[i].function));
        mz_put(m, table[i].bytes);
    }
}

void mz_lent_get(struct mz_message *m)
{
    if (mz_get(m) && !all_lent) lend_all();
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
