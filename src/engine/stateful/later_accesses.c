/* Sets of what happens later, see stateful.h. Sets are sorted, and equal sets are stored once, so a number
 * stands for a set. A table of recent unions answers most unions. */
#include <string.h>
#include "engine/stateful/stateful.h"
#include "base/region.h"
#include "base/table.h"

#define MAX_ENTRIES ((size_t)1 << 36) /* bytes */
#define MAX_SETS    (1u << 28)
#define FIRST_TABLE 256u
#define RECENT      (1u << 14)
#define SCRATCH     (1u << 26) /* entries of the largest set */

struct set {
    size_t at; /* of its entries */
    uint32_t count;
    uint32_t hash;
};

struct mz_futures {
    struct mz_elem *entries;
    size_t used;
    struct set *sets; /* sets[0] is empty */
    uint32_t count;
    struct mz_table table; /* of sets, by their hash */
    struct mz_elem *scratch;
    struct {
        mz_future a, b, result;
    } recent[RECENT];
};

static void *reserve(size_t bytes)
{
    void *p = mz_region_reserve(bytes);
    MZ_ASSERT(p != NULL);
    return p;
}

struct mz_futures *mz_futures_new(void)
{
    struct mz_futures *f = reserve(sizeof *f);
    f->entries = reserve(MAX_ENTRIES);
    f->sets = reserve((size_t)MAX_SETS * sizeof *f->sets);
    f->table.slots = reserve((size_t)2 * MAX_SETS * sizeof *f->table.slots);
    f->scratch = reserve((size_t)SCRATCH * sizeof *f->scratch);
    f->table.mask = FIRST_TABLE - 1;
    f->count = 1;
    return f;
}

void mz_futures_free(struct mz_futures *f)
{
    mz_region_free(f->entries, MAX_ENTRIES);
    mz_region_free(f->sets, (size_t)MAX_SETS * sizeof *f->sets);
    mz_region_free(f->table.slots, (size_t)2 * MAX_SETS * sizeof *f->table.slots);
    mz_region_free(f->scratch, (size_t)SCRATCH * sizeof *f->scratch);
    mz_region_free(f, sizeof *f);
}

void mz_futures_clear(struct mz_futures *f)
{
    if (f->count == 1) return;
    f->used = 0;
    f->count = 1;
    mz_table_clear(&f->table, FIRST_TABLE);
    memset(f->recent, 0, sizeof f->recent);
}

uint64_t mz_futures_memory(const struct mz_futures *f)
{
    return sizeof *f + f->used * sizeof *f->entries + f->count * sizeof *f->sets +
           ((uint64_t)f->table.mask + 1) * sizeof *f->table.slots;
}

bool mz_futures_full(const struct mz_futures *f)
{
    return f->count > MAX_SETS / 2 || f->used * sizeof *f->entries > MAX_ENTRIES / 2;
}

static uint64_t key(const struct mz_elem *e)
{
    uint64_t word;
    _Static_assert(sizeof word == sizeof *e, "an entry is one word");
    memcpy(&word, e, sizeof word);
    return word;
}

static uint32_t hash_of(const struct mz_elem *entries, uint32_t count)
{
    uint64_t h = count;
    for (uint32_t i = 0; i < count; i++) { /* a sum: its terms are computed in parallel */
        uint64_t m = key(&entries[i]) * 0x9fb21c651e98df25u;
        h += (m ^ m >> 32) * 0x94d049bb133111ebu;
    }
    return (uint32_t)(h >> 32);
}

static inline uint32_t hash_of_set(const void *futures, uint32_t n)
{
    const struct mz_futures *f = futures;
    return f->sets[n].hash;
}

/* Is set n equal to the one in the scratch? */
static inline bool is_in_scratch(const void *futures, uint32_t n, const void *wanted)
{
    const struct mz_futures *f = futures;
    const struct set *set = wanted;
    return f->sets[n].hash == set->hash && f->sets[n].count == set->count &&
           memcmp(f->entries + f->sets[n].at, f->scratch, set->count * sizeof *f->scratch) == 0;
}

/* The number of the set that is in the scratch. */
static mz_future number_of(struct mz_futures *f, uint32_t count)
{
    struct set set = {f->used, count, hash_of(f->scratch, count)};
    if (mz_table_is_half_full(&f->table)) mz_table_grow(&f->table, hash_of_set, f);
    uint32_t *slot = mz_table_find(&f->table, set.hash, is_in_scratch, f, &set);
    if (*slot) return *slot;
    MZ_ASSERT(f->count < MAX_SETS && (f->used + count) * sizeof *f->entries <= MAX_ENTRIES);
    f->sets[f->count] = set;
    memcpy(f->entries + f->used, f->scratch, count * sizeof *f->scratch);
    f->used += count;
    mz_table_fill(&f->table, slot, f->count);
    return f->count++;
}

static mz_future merge(struct mz_futures *f, mz_future a, mz_future b)
{
    const struct mz_elem *p = f->entries + f->sets[a].at, *q = f->entries + f->sets[b].at;
    const struct mz_elem *p_end = p + f->sets[a].count, *q_end = q + f->sets[b].count;
    uint32_t n = 0;
    MZ_ASSERT(f->sets[a].count + f->sets[b].count <= SCRATCH);
    while (p < p_end || q < q_end) {
        bool take_p = q == q_end || (p < p_end && key(p) <= key(q));
        bool take_q = p == p_end || (q < q_end && key(q) <= key(p));
        f->scratch[n++] = take_p ? *p : *q;
        p += take_p;
        q += take_q;
    }
    if (n == f->sets[a].count) return a;
    if (n == f->sets[b].count) return b;
    return number_of(f, n);
}

mz_future mz_future_union(struct mz_futures *f, mz_future a, mz_future b)
{
    if (a == b || !b) return a;
    if (!a) return b;
    if (a > b) {
        mz_future swap = a;
        a = b;
        b = swap;
    }
    uint32_t i = (a * 0x9e3779b1u ^ b * 0x85ebca6bu) >> 8 & (RECENT - 1);
    if (f->recent[i].a != a || f->recent[i].b != b) {
        f->recent[i].result = merge(f, a, b);
        f->recent[i].a = a;
        f->recent[i].b = b;
    }
    return f->recent[i].result;
}

mz_future mz_future_with(struct mz_futures *f, mz_future a, struct mz_elem e)
{
    f->scratch[0] = e;
    return mz_future_union(f, a, number_of(f, 1));
}

const struct mz_elem *mz_future_entries(const struct mz_futures *f, mz_future a, uint32_t *count)
{
    *count = f->sets[a].count;
    return f->entries + f->sets[a].at;
}

struct mz_elem mz_future_entry(const struct mz_exploration *x, struct mz_elem e)
{
    bool memory = mz_is_memory(&x->trace, e.op, e.object);
    e.choice = 0;
    if (e.op != MZ_OP_SECTION && e.op != MZ_OP_WOKEN) e.op = memory ? MZ_OP_LOAD : MZ_OP_NONE;
    return e;
}
