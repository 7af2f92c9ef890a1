/* The memory that the workers of a stateful search share: see finished.h. */
#include "event/finished.h"

#define FIRST_BITS 10u /* slots of the first table: 2^FIRST_BITS ... */
#define LAST_BITS  28u /* ... and of the largest one */
#define TABLES     (LAST_BITS - FIRST_BITS + 1)
#define FACTS      (1u << 21)
#define ELEMS      (1u << 28) /* of all sets; the first of a set is its length */
#define ROUNDS     64u
#define PROBES     4096u /* in a table that is nearly full */
#define SPINS      4096u /* how often to look whether another worker completes a slot */

enum { WRITING, READY, VOID };

typedef volatile uint64_t shared64;

struct mz_finished {
    shared64 table;            /* number of the current table */
    shared64 growing;          /* number of the table that states are being copied to; the same: none */
    shared64 taken;            /* slots of the current table, also those of workers that died */
    shared64 ahead;            /* states added to the larger table only, since the current one is full */
    shared64 limit;            /* bytes; 0: none */
    shared64 elems;            /* of sets; 0: none so far */
    shared64 facts;            /* places */
    shared64 rounds, complete; /* complete: the round plus one */
    shared64 workers;
    shared64 states[ROUNDS]; /* by the number of the round */
};

/* ---- where things are ---- */

#define PAGE ((size_t)4096)

static uint64_t slots_of(uint64_t table) { return (uint64_t)1 << (FIRST_BITS + table); }

static size_t size_of_table(uint64_t table) { return (size_t)slots_of(table) * (16 + 4); }

static char *facts_at(const struct mz_finished *f) { return (char *)(uintptr_t)f + PAGE; }

static char *sets_at(const struct mz_finished *f)
{
    return facts_at(f) + (size_t)FACTS * sizeof(struct mz_fact);
}

static char *table_at(const struct mz_finished *f, uint64_t table)
{
    char *at = sets_at(f) + (size_t)ELEMS * sizeof(struct mz_shared_elem);
    for (uint64_t i = 0; i < table; i++) at += size_of_table(i);
    return at;
}

size_t mz_finished_size(void) { return (size_t)table_at(NULL, TABLES); }

struct slots {
    uint64_t (*key)[2];
    uint32_t *future;
    uint64_t mask;
};

static struct slots slots_at(const struct mz_finished *f, uint64_t table)
{
    char *at = table_at(f, table);
    uint64_t count = slots_of(table);
    return (struct slots){(uint64_t(*)[2])(void *)at, (uint32_t *)(void *)(at + count * 16), count - 1};
}

static uint64_t load(const shared64 *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }

static void store(shared64 *p, uint64_t value) { __atomic_store_n(p, value, __ATOMIC_RELEASE); }

/* Numbers that the program may have damaged. */
static uint64_t below(uint64_t n, uint64_t limit) { return n < limit ? n : limit - 1; }

static uint64_t current(const struct mz_finished *f) { return below(load(&f->table), TABLES); }

uint64_t mz_finished_memory(const struct mz_finished *f)
{
    uint64_t sets = below(load(&f->elems), ELEMS) * sizeof(struct mz_shared_elem);
    return sets + below(load(&f->facts), FACTS) * sizeof(struct mz_fact) +
           2 * size_of_table(current(f)); /* the smaller tables keep their memory */
}

static bool is_within_limit(const struct mz_finished *f, uint64_t more)
{
    uint64_t limit = load(&f->limit);
    return !limit || mz_finished_memory(f) + more <= limit;
}

void mz_finished_begin(struct mz_finished *f, uint64_t limit)
{
    for (uint64_t i = 0; i <= current(f); i++) __builtin_memset(table_at(f, i), 0, size_of_table(i));
    __builtin_memset(facts_at(f), 0, below(f->facts, FACTS) * sizeof(struct mz_fact));
    *f = (struct mz_finished){.limit = limit};
}

/* ---- states ---- */

static uint64_t home(const struct slots *s, const uint64_t key[2])
{
    return (key[0] ^ key[0] >> 29) & s->mask;
}

/* Zero stands for what is not there. */
static void make_key(const uint64_t key[2], uint64_t own[2])
{
    own[0] = key[0] ? key[0] : 1;
    own[1] = key[1] ? key[1] : 1;
}

bool mz_finished_find(const struct mz_finished *f, const uint64_t key[2], uint32_t *future)
{
    struct slots s = slots_at(f, current(f));
    uint64_t own[2], there, i, tries;
    make_key(key, own);
    for (i = home(&s, own), tries = 0; tries <= s.mask; i = (i + 1) & s.mask, tries++) {
        if (!(there = __atomic_load_n(&s.key[i][0], __ATOMIC_ACQUIRE))) return false;
        if (there != own[0] || __atomic_load_n(&s.key[i][1], __ATOMIC_ACQUIRE) != own[1]) continue;
        *future = s.future[i];
        return true;
    }
    return false;
}

/* Another worker has just begun to write this slot; it may have died. */
static uint64_t wait_for(const uint64_t *half)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < SPINS && !value; i++) value = __atomic_load_n(half, __ATOMIC_ACQUIRE);
    return value;
}

static enum mz_added add(const struct slots *s, const uint64_t own[2], uint32_t future)
{
    uint64_t i = home(s, own), tries = 0;
    for (;; i = (i + 1) & s->mask, tries++) {
        uint64_t there = 0;
        if (tries > PROBES) return MZ_ADDED_NOT;
        if (__atomic_compare_exchange_n(&s->key[i][0], &there, own[0], false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            break;
        if (there == own[0] && wait_for(&s->key[i][1]) == own[1]) return MZ_ADDED_BEFORE;
    }
    s->future[i] = future;
    __atomic_store_n(&s->key[i][1], own[1], __ATOMIC_RELEASE);
    return MZ_ADDED;
}

/* Copy the table into the next one, which takes its place. Several workers may do this at once. */
static void copy(struct mz_finished *f, uint64_t table)
{
    struct slots old = slots_at(f, table), new = slots_at(f, table + 1);
    uint64_t taken = 0;
    for (uint64_t i = 0; i <= old.mask; i++) {
        uint64_t own[2] = {old.key[i][0], __atomic_load_n(&old.key[i][1], __ATOMIC_ACQUIRE)};
        if (own[1]) add(&new, own, old.future[i]);
    }
    for (uint64_t i = 0; i <= new.mask; i++) taken += new.key[i][0] != 0;
    if (!__atomic_compare_exchange_n(&f->table, &table, table + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return;
    store(&f->taken, taken);
    store(&f->ahead, 0);
}

/* F3. A worker that dies while it copies leaves `growing` behind: another one begins again when the table is full, or when
 * a worker starts (mz_finished_worker). */
static void grow(struct mz_finished *f, uint64_t table)
{
    uint64_t from = load(&f->growing), to = table + 1;
    if (from > table || to >= TABLES || !is_within_limit(f, 2 * size_of_table(to) - 2 * size_of_table(table)))
        return;
    if (__atomic_compare_exchange_n(&f->growing, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        copy(f, table);
}

static bool is_full(const struct mz_finished *f, uint64_t table)
{
    return current(f) == table && load(&f->taken) > slots_of(table) / 8 * 7;
}

/* Add the state to this table, and to the one that it is being copied to. */
static enum mz_added add_to(struct mz_finished *f, uint64_t table, const uint64_t own[2], uint32_t future)
{
    bool full = is_full(f, table);
    struct slots s = slots_at(f, table);
    enum mz_added added = full ? MZ_ADDED_NOT : add(&s, own, future);
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* either it is copied, or the copying is seen here */
    uint64_t growing = below(load(&f->growing), TABLES);
    bool room = !full || __atomic_add_fetch(&f->ahead, 1, __ATOMIC_RELAXED) < slots_of(table) / 8;
    if (growing > table && room) {
        struct slots new = slots_at(f, growing);
        enum mz_added there = add(&new, own, future);
        if (full) added = there;
    }
    return added;
}

enum mz_added mz_finished_add(struct mz_finished *f, const uint64_t key[2], uint32_t future)
{
    uint64_t own[2], table = current(f);
    make_key(key, own);
    if (is_full(f, table)) {
        grow(f, table);
        table = current(f);
    }
    enum mz_added added = add_to(f, table, own, future);
    if (added == MZ_ADDED_NOT &&
        load(&f->growing) == table + 1) { /* the other worker is slow, or dead: help it */
        copy(f, table);
        table = current(f);
        added = add_to(f, table, own, future);
    }
    while (table != current(f)) add_to(f, table = current(f), own, future);
    if (added == MZ_ADDED && __atomic_add_fetch(&f->taken, 1, __ATOMIC_RELAXED) > slots_of(table) / 8 * 5)
        grow(f, table);
    return added;
}

/* ---- sets ---- */

static struct mz_shared_elem *elem_at(const struct mz_finished *f, uint64_t at)
{
    return (struct mz_shared_elem *)(void *)sets_at(f) + at;
}

uint32_t mz_finished_put_set(struct mz_finished *f, const struct mz_shared_elem *elems, uint32_t count)
{
    uint64_t more = (uint64_t)count + 1;
    if (load(&f->elems) + more >= ELEMS - 1 || !is_within_limit(f, more * sizeof *elems)) return 0;
    uint64_t at = __atomic_fetch_add(&f->elems, more, __ATOMIC_RELAXED) + 1;
    if (at + more >= ELEMS) return 0;
    elem_at(f, at)->key = count;
    __builtin_memcpy(elem_at(f, at + 1), elems, count * sizeof *elems);
    return (uint32_t)at;
}

const struct mz_shared_elem *mz_finished_set(const struct mz_finished *f, uint32_t number, uint32_t *count)
{
    if (!number || number >= ELEMS - 1 || elem_at(f, number)->key >= ELEMS - number) return NULL;
    *count = (uint32_t)elem_at(f, number)->key;
    return elem_at(f, (uint64_t)number + 1);
}

/* ---- facts ---- */

static struct mz_fact *fact_at(const struct mz_finished *f, uint64_t at)
{
    return (struct mz_fact *)(void *)facts_at(f) + at;
}

bool mz_finished_tell(struct mz_finished *f, const struct mz_fact *fact)
{
    for (;;) {
        uint32_t writing = WRITING;
        if (load(&f->facts) >= FACTS - 1) return false;
        uint64_t at = __atomic_fetch_add(&f->facts, 1, __ATOMIC_ACQ_REL);
        if (at >= FACTS - 1) return false;
        struct mz_fact *to = fact_at(f, at);
        to->kind = fact->kind;
        __builtin_memcpy(to->small, fact->small, sizeof to->small);
        __builtin_memcpy(to->words, fact->words, sizeof to->words);
        if (__atomic_compare_exchange_n(&to->status, &writing, READY, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            return true;
    }
}

uint64_t mz_finished_told(const struct mz_finished *f) { return below(load(&f->facts), FACTS); }

const struct mz_fact *mz_finished_fact(struct mz_finished *f, uint64_t at)
{
    struct mz_fact *fact = fact_at(f, at);
    uint32_t status = WRITING;
    __atomic_compare_exchange_n(&fact->status, &status, VOID, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return status == READY ? fact : NULL;
}

/* ---- rounds ---- */

uint64_t mz_finished_new_round(struct mz_finished *f)
{
    uint64_t round = __atomic_add_fetch(&f->rounds, 1, __ATOMIC_ACQ_REL);
    store(&f->states[round % ROUNDS], 0);
    return round;
}

uint64_t mz_finished_round(const struct mz_finished *f) { return load(&f->rounds); }

void mz_finished_complete(struct mz_finished *f, uint64_t round) { store(&f->complete, round + 1); }

bool mz_finished_is_complete(const struct mz_finished *f, uint64_t *round)
{
    uint64_t complete = load(&f->complete);
    *round = complete - 1;
    return complete > 0;
}

void mz_finished_count(struct mz_finished *f, uint64_t round, uint64_t more)
{
    __atomic_add_fetch(&f->states[round % ROUNDS], more, __ATOMIC_RELAXED);
}

uint64_t mz_finished_states(const struct mz_finished *f, uint64_t round)
{
    return load(&f->states[round % ROUNDS]);
}

/* If states are being copied at this moment, they may be copied twice, which changes nothing. */
uint32_t mz_finished_worker(struct mz_finished *f)
{
    uint64_t table = current(f), growing = load(&f->growing);
    if (growing > table)
        __atomic_compare_exchange_n(&f->growing, &growing, table, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return (uint32_t)__atomic_fetch_add(&f->workers, 1, __ATOMIC_ACQ_REL);
}

/* ---- checkpoints ---- */

#define RECORD 20 /* bytes of a state */

static void save_states(const struct mz_finished *f, struct mz_message *m, size_t reserved)
{
    struct slots s = slots_at(f, current(f));
    size_t at = m->count;
    uint64_t count = 0;
    mz_put_long(m, 0);
    for (uint64_t i = 0; i <= s.mask && m->capacity - m->count > reserved + RECORD; i++) {
        uint64_t second = __atomic_load_n(&s.key[i][1], __ATOMIC_ACQUIRE);
        if (!second) continue;
        mz_put_long(m, s.key[i][0]);
        mz_put_long(m, second);
        mz_put(m, s.future[i]);
        count++;
    }
    __builtin_memcpy(m->data + at, &count, sizeof count);
}

/* States come first: the sets and facts that they rest on are there by then. */
void mz_finished_save(struct mz_finished *f, struct mz_message *m)
{
    save_states(f, m, 2 * mz_finished_memory(f) - 2 * 2 * size_of_table(current(f)) + (1 << 20));
    uint64_t elems = below(load(&f->elems), ELEMS), facts = mz_finished_told(f);
    mz_put_long(m, elems);
    mz_put_bytes(m, elem_at(f, 1), elems * sizeof(struct mz_shared_elem));
    mz_put_long(m, facts);
    for (uint64_t i = 0; i < facts; i++) {
        struct mz_fact void_fact = {.status = VOID};
        const struct mz_fact *fact = mz_finished_fact(f, i);
        mz_put_bytes(m, fact ? fact : &void_fact, sizeof *fact);
    }
    mz_put_long(m, load(&f->rounds));
    mz_put_long(m, load(&f->complete));
    for (unsigned i = 0; i < ROUNDS; i++) mz_put_long(m, load(&f->states[i]));
}

bool mz_finished_load(struct mz_finished *f, struct mz_message *m)
{
    for (uint64_t n = mz_get_long(m); n > 0 && !m->bad; n--) {
        uint64_t key[2] = {mz_get_long(m), mz_get_long(m)};
        uint32_t future = mz_get(m);
        if (!m->bad) mz_finished_add(f, key, future);
    }
    uint64_t elems = mz_get_long(m);
    if (elems >= ELEMS - 1 || elems > (m->count - m->at) / sizeof(struct mz_shared_elem)) m->bad = true;
    if (!m->bad) mz_get_bytes(m, elem_at(f, 1), elems * sizeof(struct mz_shared_elem));
    store(&f->elems, m->bad ? 0 : elems);
    uint64_t facts = mz_get_long(m);
    if (facts >= FACTS || facts > (m->count - m->at) / sizeof(struct mz_fact)) m->bad = true;
    if (!m->bad) mz_get_bytes(m, fact_at(f, 0), facts * sizeof(struct mz_fact));
    store(&f->facts, m->bad ? 0 : facts);
    store(&f->rounds, mz_get_long(m));
    store(&f->complete, mz_get_long(m));
    for (unsigned i = 0; i < ROUNDS; i++) store(&f->states[i], mz_get_long(m));
    return !m->bad;
}
