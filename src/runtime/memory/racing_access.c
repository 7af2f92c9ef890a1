/* --data-races=allow: plain accesses to locations with data races are operations like any other.
 *
 * These locations are found during the search. A race, which would otherwise be a finding, adds its location,
 * and the search starts over with that location visible. This repeats until there is no new location. (Before
 * the first race it was right to leave plain accesses out: the search finds the first execution with a race.)
 *
 * A location is a granule of 4 bytes. The program itself makes the access, just after the hook, so one access
 * is one operation, whatever its size. memcpy and the like are functions of the runtime and copy piece by
 * piece. A struct that the compiler copies itself counts as one access.
 *
 * An access that is an operation may also touch bytes that are not visible: the other half of a long word, or
 * a volatile variable that other threads access plainly. For the race check the access is atomic there, so a
 * plain access to those bytes becomes visible, too.
 *
 * Accesses that are operations do not synchronize. So data that the program protects with such accesses may
 * race as well, and then becomes visible, too. Accesses to volatile variables are always operations in this
 * mode. */
#include "base/table.h"
#include "runtime/core/operation.h"
#include "runtime/core/runtime.h"
#include "runtime/loops/loops.h"
#include "runtime/memory/cell.h"
#include "runtime/memory/memory.h"
#include "runtime/memory/room.h"
#include "runtime/rewind/rewind.h"

#define GRANULE 4u

#define ra mz_memory_room.racing_access

static uint64_t *find(uint64_t granule)
{
    return mz_key_find(ra.table, sizeof *ra.table, MZ_RACING_TABLE - 1, mz_table_hash(granule), granule);
}

static bool is_visible(uint64_t granule) { return *find(granule) == granule; }

/* Returns the first visible granule of the range, or 0. */
static uint64_t first_visible(uint64_t address, size_t size)
{
    for (uint64_t g = address / GRANULE; g <= (address + size - 1) / GRANULE; g++)
        if (is_visible(g)) return g;
    return 0;
}

bool mz_visible_any(const void *p, size_t size)
{
    return ra.applied && size && first_visible((uintptr_t)p, size);
}

/* ---- locations, in a form that is valid in another run of the program ---- */

static struct mz_location describe(uint64_t address)
{
    for (int s = 0; s < MZ_SLOTS; s++) {
        const char *low, *high;
        mz_heap_arena(s, &low, &high);
        if (address >= (uintptr_t)low && address < (uintptr_t)high)
            return (struct mz_location){MZ_LOCATION_HEAP, (uint8_t)s, {0}, address - (uintptr_t)low};
        if (mz_fiber_stack_contains(s, address))
            return (struct mz_location){
                MZ_LOCATION_STACK, (uint8_t)s, {0}, (uintptr_t)rt.slots[s].stack_high - address};
        if (address < rt.slots[s].fs && address >= rt.slots[s].fs - rt.tls_size)
            return (struct mz_location){MZ_LOCATION_TLS, (uint8_t)s, {0}, rt.slots[s].fs - address};
    }
    for (uint32_t m = 0; m < rt.channel->module_count; m++) {
        const struct mz_module *module = &rt.channel->modules[m];
        if (address >= module->start && address < module->end)
            return (struct mz_location){MZ_LOCATION_MODULE, (uint8_t)m, {0}, address - module->bias};
    }
    return (struct mz_location){MZ_LOCATION_ADDRESS, 0, {0}, address};
}

static uint64_t address_of(const struct mz_location *l)
{
    const char *low, *high;
    switch (l->kind) {
    case MZ_LOCATION_HEAP:
        mz_heap_arena(l->index, &low, &high);
        return (uintptr_t)low + l->offset;
    case MZ_LOCATION_STACK:
        return (uintptr_t)rt.slots[l->index].stack_high - l->offset;
    case MZ_LOCATION_TLS:
        return rt.slots[l->index].fs - l->offset;
    case MZ_LOCATION_MODULE:
        return rt.channel->modules[l->index].bias + l->offset;
    default:
        return l->offset;
    }
}

/* A race on these bytes: add them to the locations and start over. The execution ends here. Its result would
 * not count, and it might run for ever in a loop that waits for a location that is not visible yet. */
_Noreturn void mz_visible_add(uint64_t address, size_t size)
{
    struct mz_channel *c = rt.channel;
    uint32_t before = c->location_count;
    for (uint64_t g = address / GRANULE; g <= (address + size - 1) / GRANULE; g++) {
        if (is_visible(g)) continue;
        bool known = false;
        for (uint32_t i = ra.applied; i < c->location_count && !known; i++)
            known = address_of(&c->locations[i]) / GRANULE == g;
        if (known) continue;
        if (c->location_count == MZ_MAX_LOCATIONS)
            mz_unsupported("--data-races=allow with more than 4096 racing locations", "use atomics or locks");
        c->locations[c->location_count++] = describe(g * GRANULE);
    }
    MZ_ASSERT(c->location_count > before); /* or the search would start over for ever */
    mz_explore_restart(rt.x);
    rt.run.failed |= (uint64_t)1 << rt.self;
    rt.section = 0;
    mz_fiber_leave();
}

/* Called before an execution: makes the locations in the channel visible. In a replay, the command sets their
 * number to what it was then. */
void mz_visible_begin(void)
{
    const struct mz_channel *c = rt.channel;
    for (; ra.applied < c->location_count; ra.applied++) {
        uint64_t granule = address_of(&c->locations[ra.applied]) / GRANULE;
        *find(granule) = granule;
    }
}

uint32_t mz_visible_count(void) { return ra.applied; }

/* ---- accesses ---- */

/* All visible granules of a longer access are one object. */
static void unite(uint64_t address, size_t size)
{
    uint64_t first = first_visible(address, size);
    for (uint64_t g = first + 1; g <= (address + size - 1) / GRANULE; g++)
        if (is_visible(g)) mz_explore_unite(rt.x, first * GRANULE, g * GRANULE, GRANULE);
}

static void happen(uint64_t key, unsigned size, bool write, uint64_t old)
{
    if (mz_commit_replayed()) return;
    if (rt.trial) return;
    mz_commit_live(write ? MZ_WRITES : MZ_READS, old, old); /* the program itself writes, after the hook */
    if (!rt.path->live) return;
    uint32_t object = rt.section ? mz_explore_object(rt.x, key) : mz_last_object();
    mz_sync_atomic(object, write ? MZ_OP_STORE : MZ_OP_LOAD, __ATOMIC_RELAXED, write ? MZ_WRITES : MZ_READS);
    mz_shadow_atomic(key, size, write ? MZ_WRITES : MZ_READS);
}

/* The event of a long access covers only one granule: granules that are not visible are accessed plainly. */
static void rest_is_plain(uint64_t address, size_t size, bool write, const void *pc)
{
    for (uint64_t at = address, next; at < address + size; at = next) {
        next = (at / GRANULE + 1) * GRANULE;
        if (next > address + size) next = address + size;
        if (!is_visible(at / GRANULE)) mz_shadow_range(at, next - at, write, (uintptr_t)pc);
    }
}

/* The program is about to make a plain access. Returns false if the access is not an operation. Else waits
 * until it is scheduled, and returns true. */
bool mz_visible_access(const void *p, size_t size, bool write, bool always, const void *pc, const void *frame)
{
    uint64_t address = (uintptr_t)p, key = address;
    if (!size || (!always && !(ra.applied && first_visible(address, size)))) return false;
    if (size > 16 && !always) { /* `always`: a volatile access, at most 16 bytes */
        unite(address, size);
        key = first_visible(address, size) * GRANULE;
    }
    uint8_t bytes = size > 16 ? GRANULE : (uint8_t)size;
    uint8_t op = write ? MZ_OP_STORE : MZ_OP_LOAD;
    if (!write && frame) mz_spin(address, pc, frame);
    if (write) mz_rounds_look(address, pc, frame);
    mz_visible_direct(op, key, bytes, write ? MZ_WRITES : MZ_READS, __ATOMIC_RELAXED, pc);
    mz_memory_check_atomic(p, size > 16 ? 1 : (unsigned)size);
    if (write) mz_keep_program(p, size);
    uint64_t old = (uint64_t)mz_cell_newest((const void *)(uintptr_t)key, bytes);
    MZ_RECORD(op, key, bytes, write ? 0 : MZ_RECORD_HAS_VALUE, old, 0, 0, frame);
    happen(key, bytes, write, old);
    if (size > 16) rest_is_plain(address, size, write, pc);
    return true;
}

/* ---- memcpy and the like, piece by piece ---- */

static size_t piece(uint64_t a, uint64_t b, size_t left)
{
    size_t to_a = GRANULE - a % GRANULE, to_b = GRANULE - b % GRANULE, n = to_a < to_b ? to_a : to_b;
    return n < left ? n : left;
}

void mz_visible_copy(char *to, const char *from, size_t n, void *pc, const void *frame)
{
    bool backwards = to > from && to < from + n;
    for (size_t done = 0, part; done < n; done += part) {
        char bytes[GRANULE];
        size_t at = done;
        part = backwards ? 1 : piece((uintptr_t)to + done, (uintptr_t)from + done, n - done);
        if (backwards) at = n - 1 - done;
        mz_access_range(from + at, part, false, pc, frame);
        mz_raw_memcpy(bytes, from + at, part);
        mz_access_range(to + at, part, true, pc, frame);
        mz_raw_memcpy(to + at, bytes, part);
    }
}

void mz_visible_set(char *to, int c, size_t n, void *pc, const void *frame)
{
    for (size_t done = 0, part; done < n; done += part) {
        part = piece((uintptr_t)to + done, (uintptr_t)to + done, n - done);
        mz_access_range(to + done, part, true, pc, frame);
        mz_raw_memset(to + done, c, part);
    }
}
