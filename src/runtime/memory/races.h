/* The part of the past that decides about data races, as a part of the state. Private to src/runtime.
 *
 * race_places.c: which accesses must be remembered. race_history.c: the remembered accesses, and which
 * threads and objects know of them. Only the stateful algorithms (rt.stateful) call these functions. */
#ifndef MZ_RUNTIME_MEMORY_RACES_H
#define MZ_RUNTIME_MEMORY_RACES_H

#include "runtime/core/runtime.h"

/* A place is a granule of 4 bytes, by the number of its cell in shadow_check.c. Its plain accesses are ... */
enum mz_place_level {
    MZ_PLACE_FREE,   /* ... in no race whatever the order: they are not remembered */
    MZ_PLACE_FORKED, /* ... all ordered by creating and joining threads, as far as is known */
    MZ_PLACE_FULL    /* ... in any order */
};

/* ---- race_places.c ---- */
void mz_places_init(void);
/* The running thread accesses the place. Returns the level that the place has from now on. */
unsigned mz_place_access(uint32_t place, uint64_t granule, bool write, bool atomic);
unsigned mz_place_level(uint32_t place);
/* Forks and joins do not order all conflicting accesses to the place: it becomes MZ_PLACE_FULL. Returns
 * that. */
unsigned mz_place_unforked(uint32_t place, uint64_t granule);
bool mz_place_mixed(uint32_t place);   /* Does it have plain and atomic accesses? */
bool mz_place_atomics(uint32_t place); /* Are its atomic accesses remembered? */
/* Sets whether an atomic access has touched the place in this execution. Returns true if that is a change. */
bool mz_place_touch(uint32_t place, bool touched);
bool mz_place_touched(uint32_t place);
bool mz_alone(int thread);
const uint64_t *mz_places_tracked(uint32_t *count); /* granules */
void mz_places_stale(void); /* new facts make some states differ: the search must start over */
bool mz_places_restart(bool complete);
/* For core/facts.c. */
struct mz_finished;
struct mz_fact;
bool mz_places_are_stale(void);
void mz_places_settle(void);
bool mz_places_tell(struct mz_finished *to); /* the new facts; false if there is no room */
void mz_place_learn(const struct mz_fact *fact);

/* ---- race_history.c ---- */
void mz_races_init(void);
void mz_races_begin(void); /* at the start of an execution */
void mz_races_spawn(int parent, int child, uint32_t epoch);
void mz_races_join(int thread, int finished);
/* Does `thread` know this epoch of `other` by forks and joins alone? */
bool mz_races_forked(int thread, int other, uint32_t epoch);
/* Adds an access to the history (now), or removes it. */
void mz_races_entry(unsigned level, int thread, uint32_t epoch, enum mz_race_kind kind, uint64_t granule,
                    unsigned mask, bool now);
void mz_races_forget(uint32_t place, uint64_t granule); /* forgets atomic accesses to freed memory */
void mz_races_node(void);
void mz_races_hash(struct mz_state *out);
void mz_races_bytes(void (*write)(const void *bytes, size_t size));

/* ---- shadow_check.c ---- */
uint32_t mz_shadow_place(uint64_t granule, bool *atomic);
/* Calls f for every plain access to the granule that the shadow has. */
typedef void mz_access_fn(void *data, int thread, uint32_t epoch, enum mz_race_kind kind, unsigned mask);
void mz_shadow_each(uint64_t granule, mz_access_fn *f, void *data);

/* ---- keys.c ---- */
/* Calls f for every use and deletion of a key that is in the history. */
void mz_keys_past(void (*f)(void *data, uint64_t granule, int thread, uint32_t epoch, enum mz_race_kind kind),
                  void *data);

/* ---- race_order.c ---- */
/* Returns the threads that know epoch `epoch` of the thread, and calls f for everything else that knows
 * it. */
uint64_t mz_sync_knowers(int thread, uint32_t epoch, void (*f)(void *data, uint64_t knower), void *data);

#endif
