/* Hashing of states. Private to state.c and undo.c, and to files that change memory which undo.c does not see.
 *
 * A hash of 128 bits is two sums of 64 bits, over two independent mixtures of an address and its value. So
 * the hash can be updated word by word, in any order. */
#ifndef MZ_RUNTIME_STATE_HASH_H
#define MZ_RUNTIME_STATE_HASH_H

#include "runtime/core/runtime.h"
#include "runtime/state/room.h"

static inline uint64_t mz_fold(uint64_t a, uint64_t b)
{
    unsigned __int128 r = (unsigned __int128)a * b;
    return (uint64_t)r ^ (uint64_t)(r >> 64);
}

static inline struct mz_state mz_hash_of(uint64_t at, uint64_t value)
{
    return (struct mz_state){{mz_fold(value ^ 0x9e3779b97f4a7c15u, at ^ 0xbf58476d1ce4e5b9u),
                              mz_fold(value ^ 0x94d049bb133111ebu, at ^ 0xd6e8feb86659fd93u)}};
}

static inline void mz_hash_add(struct mz_state *h, struct mz_state x)
{
    h->hash[0] += x.hash[0];
    h->hash[1] += x.hash[1];
}

static inline void mz_hash_take(struct mz_state *h, struct mz_state x)
{
    h->hash[0] -= x.hash[0];
    h->hash[1] -= x.hash[1];
}

/* Adds a word of memory to the hash (now), or removes it. */
static inline void mz_state_word(uint64_t at, uint64_t value, bool now)
{
    if (now)
        mz_hash_add(&mz_state_room.memory, mz_hash_of(at, value));
    else
        mz_hash_take(&mz_state_room.memory, mz_hash_of(at, value));
}

void mz_state_begin(void);
void mz_state_node(uint64_t changed_threads);
void mz_state_back(uint32_t node);
void mz_state_sample(void);
void mz_state_advise(void);
/* The change of the state is not known: the current state is unlike every other state. */
void mz_state_poison(void);

struct mz_stack; /* liveness.h */
/* Fills *s. Returns the registers of the thread. */
const struct mz_parked *mz_state_stack(int slot, struct mz_stack *s);

/* state/kept.c */
void mz_state_kept(const volatile void *p, size_t size);
void mz_state_each_kept(void (*f)(uint64_t at, uint64_t value));

/* state/delta.c */
void mz_delta_init(void);
void mz_delta_begin(void);
uint64_t mz_delta_id(int slot);
void mz_delta_back(void);

#endif
