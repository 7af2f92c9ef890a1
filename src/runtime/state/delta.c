/* The light-weight scheme of 2008 for local states.
 *
 * With --state-capture=delta, a local state is not hashed as a whole: it has a number. The change that a step
 * makes to the local state, its delta, leads from one number to the next (2008, Fig. 4). So equal local
 * states that different changes produced have different numbers. The scheme is here to compare its speed.
 *
 * The delta of a step is unknown (⊥ in the paper) if the thread has called a function in it that libc.def
 * does not know (imports.c), or if its stack is too large. Only the delta of that step is ⊥: the paper's
 * section 5 does the same for transitions with calls. The number after the step belongs to the path that led
 * there: a repeated run of the path has the same numbers, and no other path has them. The delta is always
 * computed from the stack as it is. So ⊥ never makes a state equal to another one, and a function without
 * hooks cannot change a stack unseen. */
#include "base/region.h"
#include "base/table.h"
#include "runtime/rewind/rewind.h"
#include "runtime/state/hash.h"
#include "runtime/state/liveness.h"
#include "runtime/state/room.h"
#include "runtime/state/state.h"

#define WORDS  MZ_DELTA_WORDS
#define DELTAS (1u << 22)

struct numbered { /* the local state of a thread at the last node where it had run */
    uint64_t id;
    uint64_t count;
    uint64_t words[WORDS]; /* registers, then its stack from the top down */
};

#define de mz_state_room.delta

void mz_delta_init(void)
{
    if (rt.channel->options.state_capture != MZ_CAPTURE_DELTA) return;
    de.threads = mz_region_reserve(MZ_SLOTS * sizeof *de.threads);
    de.table = mz_region_reserve(DELTAS * sizeof *de.table);
    MZ_ASSERT(de.threads && de.table);
}

/* At the start of an execution, all threads are in the state with number 0. */
void mz_delta_begin(void)
{
    for (int s = 0; de.threads && s < MZ_SLOTS; s++) de.threads[s].id = de.threads[s].count = 0;
    de.called = 0;
}

/* The running thread calls an unknown function. */
void mz_delta_call(void) { de.called |= mz_slot_bit(rt.self); }

/* The execution has gone back to a node: no thread is within a step. */
void mz_delta_back(void) { de.called = 0; }

/* Returns a delta that only this path has, however often the path is run. */
static struct mz_state unknown_delta(void)
{
    struct mz_state delta = mz_hash_of(WORDS + 1, rt.path->depth);
    for (uint32_t i = 0; i < rt.path->depth; i++) {
        const struct mz_event *e = &rt.path->events[i];
        mz_hash_add(&delta, mz_hash_of(WORDS + 2 + i, (uint64_t)e->choice << 8 | e->thread));
    }
    return delta;
}

static uint64_t collect(int slot, uint64_t *words)
{
    struct mz_stack s;
    const struct mz_parked *p = mz_state_stack(slot, &s);
    const struct mz_thread *t = &rt.run.threads[slot];
    const uint64_t *high = s.high, *from = t->simple ? s.entered - 1 : s.first; /* as in state.c */
    uint32_t live = s.registers;
    const uint64_t registers[] = {p->rbx, p->r12, p->r13, p->r14, p->r15};
    const unsigned numbers[] = {3, 12, 13, 14, 15};
    uint64_t n = 0;
    words[n++] = live;
    for (unsigned i = 0; i < 5; i++) words[n++] = live & 1u << numbers[i] ? registers[i] : 0;
    for (unsigned i = 0; i < 3; i++) words[n++] = t->simple ? t->operands[i] : 0;
    uint64_t *first = words + n;
    while (high > from + 1 && n < WORDS) words[n++] = *--high;
    if (high > from + 1) return WORDS + 1;
    for (unsigned i = 0; i < s.count; i++) { /* dead bytes are left out, as in state.c */
        const struct mz_live *l = s.frames[i].live;
        for (unsigned w = 0; l && w < l->words; w++) first[s.high - s.frames[i].base + w] &= l->mask[w];
    }
    return n;
}

/* NEXTLOCAL, lines 5 to 7 */
static uint64_t next_id(uint64_t id, int slot, struct mz_state delta)
{
    mz_hash_add(&delta, mz_hash_of(id << 8 | (unsigned)slot, 1));
    struct mz_delta_entry *e = mz_wide_key_find(de.table, sizeof *e, DELTAS - 1, delta.hash);
    if (e->id) return e->id;
    if (++de.used > DELTAS / 2) return ++de.ids;
    e->key = delta;
    return e->id = ++de.ids;
}

uint64_t mz_delta_id(int slot)
{
    uint64_t *words = de.words;
    struct numbered *t = &de.threads[slot];
    uint64_t n = collect(slot, words), common = n < t->count ? n : t->count;
    struct mz_state delta = {{0, 0}};
    bool unknown = n > WORDS || de.called & mz_slot_bit(slot), changed = n != t->count;
    de.called &= ~mz_slot_bit(slot);
    for (uint64_t i = 0; i < n && !unknown; i++) {
        if (i < common && words[i] == t->words[i]) continue;
        changed = true;
        mz_hash_add(&delta, mz_hash_of(i, words[i]));
    }
    if (!unknown && !changed) return t->id;
    if (unknown) delta = unknown_delta();
    mz_hash_add(&delta, mz_hash_of(WORDS, n));
    mz_keep(t, offsetof(struct numbered, words) + t->count * sizeof *t->words);
    t->id = next_id(t->id, slot, delta);
    t->count = unknown ? 0 : n;
    mz_raw_memcpy(t->words, words, t->count * sizeof *words);
    return t->id;
}
