/* --data-races=allow: plain accesses to locations with data races are operations like any other.
 *
 * Which locations those are is found out on the run: a race that would be a finding otherwise adds the
 * location, and the search starts over with it, until no new one turns up. (Up to the first race nothing was
 * wrong with leaving plain accesses out: whoever looks for the first execution with a race finds it.)
 *
 * A location is a granule of 4 bytes. The access itself is made by the program, just after the hook: so one
 * access is one operation, whatever its size. memcpy and its kin are ours and go piece by piece; the copy of
 * a struct that the compiler does by itself counts as one.
 *
 * An access that is an operation may also touch bytes that are not visible: the other half of a long word, a
 * volatile access to a variable that others access plainly. To the race check it is atomic there, so that the
 * plain access to those bytes becomes visible too.
 *
 * Accesses that are operations do not synchronize: what they order in the program's mind may race as well,
 * and then becomes visible too. Accesses to volatile variables are always operations in this mode. */
#include "runtime.h"
#include "rounds.h"

#define GRANULE 4u
#define TABLE   (1u << 15) /* of MZ_MAX_LOCATIONS */

static uint64_t table[TABLE]; /* granule numbers; 0: free */
static uint32_t applied;      /* locations in the table */

static uint32_t hash(uint64_t granule) { return (uint32_t)((granule * 0x9e3779b97f4a7c15ull) >> 49); }

static bool is_visible(uint64_t granule)
{
    for (uint32_t i = hash(granule);; i = (i + 1) % TABLE) {
        if (table[i] == granule) return true;
        if (!table[i]) return false;
    }
}

/* The first visible granule of the range, or 0. */
static uint64_t first_visible(uint64_t address, size_t size)
{
    for (uint64_t g = address / GRANULE; g <= (address + size - 1) / GRANULE; g++)
        if (is_visible(g)) return g;
    return 0;
}

bool mz_visible_any(const void *p, size_t size)
{
    return applied && size && first_visible((uintptr_t)p, size);
}

/* ---- locations, as they are handed to another run of the program ---- */

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

/* A race on these bytes. The execution ends here: it says nothing, and might go round a loop for ever that
 * waits for what is not visible yet. */
_Noreturn void mz_visible_add(uint64_t address, size_t size)
{
    struct mz_channel *c = rt.channel;
    uint32_t before = c->location_count;
    for (uint64_t g = address / GRANULE; g <= (address + size - 1) / GRANULE; g++) {
        if (is_visible(g)) continue;
        bool known = false;
        for (uint32_t i = applied; i < c->location_count && !known; i++)
            known = address_of(&c->locations[i]) / GRANULE == g;
        if (known) continue;
        if (c->location_count == MZ_MAX_LOCATIONS)
            mz_unsupported("--data-races=allow with more than 4096 racing locations", "use atomics or locks");
        c->locations[c->location_count++] = describe(g * GRANULE);
    }
    MZ_ASSERT(c->location_count > before); /* else it would start over for ever */
    mz_explore_restart(rt.x);
    rt.run.failed |= (uint64_t)1 << rt.self;
    rt.section = 0;
    mz_fiber_leave();
}

/* Before an execution. Replaying, the command says how many there were then. */
void mz_visible_begin(void)
{
    const struct mz_channel *c = rt.channel;
    for (; applied < c->location_count; applied++) {
        uint64_t granule = address_of(&c->locations[applied]) / GRANULE;
        uint32_t i = hash(granule);
        while (table[i] && table[i] != granule) i = (i + 1) % TABLE;
        table[i] = granule;
    }
}

uint32_t mz_visible_count(void) { return applied; }

/* ---- accesses ---- */

static uint64_t value_at(uint64_t address, size_t size)
{
    switch (size) {
    case 1:
        return *(volatile uint8_t *)address;
    case 2:
        return *(volatile uint16_t *)address;
    case 4:
        return *(volatile uint32_t *)address;
    default:
        return *(volatile uint64_t *)address;
    }
}

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
    mz_commit_live(write ? MZ_WRITES : MZ_READS, old);
    if (!rt.path->live) return;
    uint32_t object = rt.section ? mz_explore_object(rt.x, key) : mz_last_object();
    mz_sync_atomic(object, write ? MZ_OP_STORE : MZ_OP_LOAD, __ATOMIC_RELAXED, write ? MZ_WRITES : MZ_READS);
    mz_shadow_atomic(key, size, write ? MZ_WRITES : MZ_READS);
}

/* The event of a long access has only one granule: those that are not visible are plain. */
static void rest_is_plain(uint64_t address, size_t size, bool write, const void *pc)
{
    for (uint64_t at = address, next; at < address + size; at = next) {
        next = (at / GRANULE + 1) * GRANULE;
        if (next > address + size) next = address + size;
        if (!is_visible(at / GRANULE)) mz_shadow_range(at, next - at, write, (uintptr_t)pc);
    }
}

/* A plain access that is about to be made by the program: true if it was an operation, and it is its turn
 * now.
 */
bool mz_visible_access(const void *p, size_t size, bool write, bool always, const void *pc, const void *frame)
{
    uint64_t address = (uintptr_t)p, key = address;
    if (!size || (!always && !(applied && first_visible(address, size)))) return false;
    if (size > 16) {
        unite(address, size);
        key = first_visible(address, size) * GRANULE;
    }
    uint8_t bytes = size > 16 ? GRANULE : (uint8_t)size;
    uint8_t op = write ? MZ_OP_STORE : MZ_OP_LOAD;
    if (!write && frame) mz_spin(address, pc, frame);
    if (write) mz_rounds_look(address, pc, frame);
    mz_visible(op, key, bytes, write ? MZ_WRITES : MZ_READS, 0, pc);
    mz_memory_check_atomic(p, size > 16 ? 1 : (unsigned)size);
    if (write) mz_keep_program(p, size);
    uint64_t old = value_at(key, bytes);
    MZ_RECORD(op, key, bytes, write ? 0 : MZ_RECORD_HAS_VALUE, old, 0, 0, frame);
    happen(key, bytes, write, old);
    if (size > 16) rest_is_plain(address, size, write, pc);
    return true;
}

/* ---- memcpy and its kin, piece by piece ---- */

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
