/* What of the past decides about data races, as a part of the state. Private to src/runtime.
 *
 * race_places.c: which accesses must be remembered. race_history.c: the remembered accesses, and who knows of
 * them. Only the stateful algorithms (rt.stateful) call any of this. */
#ifndef MZ_RUNTIME_RACES_H
#define MZ_RUNTIME_RACES_H

#include "runtime.h"

/* A place is a granule of 4 bytes, by the number of its cell in shadow.c. Its plain accesses are ... */
enum mz_place_level {
    MZ_PLACE_FREE,   /* ... in no race whatever the order: they are not remembered */
    MZ_PLACE_FORKED, /* ... all ordered by creating and joining threads, as far as is known */
    MZ_PLACE_FULL    /* ... in any order */
};

enum mz_race_kind { MZ_PLAIN_READ, MZ_PLAIN_WRITE, MZ_ATOMIC_READ, MZ_ATOMIC_WRITE, MZ_TOUCHED };

/* ---- race_places.c ---- */
void mz_places_init(void);
/* The running thread accesses the place: returns the level from now on. */
unsigned mz_place_access(uint32_t place, uint64_t granule, bool write, bool atomic);
unsigned mz_place_level(uint32_t place);
unsigned mz_place_unforked(uint32_t place);        /* accesses that only synchronization orders, or nothing */
bool mz_place_mixed(uint32_t place);               /* plain accesses and atomic ones */
bool mz_place_atomics(uint32_t place);             /* atomic accesses to it are remembered */
bool mz_place_touch(uint32_t place, bool touched); /* by an atomic access; true: it was not as said */
bool mz_place_touched(uint32_t place);
bool mz_alone(int thread);
const uint64_t *mz_places_tracked(uint32_t *count); /* granules */
void mz_places_stale(void); /* something is known now that would have made states differ */
bool mz_places_restart(bool complete);

/* ---- race_history.c ---- */
void mz_races_init(void);
void mz_races_begin(void); /* of an execution from the start */
void mz_races_spawn(int parent, int child, uint32_t epoch);
void mz_races_join(int thread, int finished);
bool mz_races_forked(int thread, int other, uint32_t epoch); /* does it know that by forks and joins alone? */
/* An access is remembered from now on, or no longer. */
void mz_races_entry(unsigned level, int thread, uint32_t epoch, enum mz_race_kind kind, uint64_t granule,
                    unsigned mask, bool now);
void mz_races_forget(uint32_t place, uint64_t granule); /* atomic accesses to what is freed */
void mz_races_node(void);
void mz_races_hash(struct mz_state *out);
void mz_races_bytes(void (*write)(const void *bytes, size_t size));

/* ---- shadow.c ---- */
uint32_t mz_shadow_place(uint64_t granule, bool *atomic);
/* Call f for every plain access to the granule that the shadow has. */
typedef void mz_access_fn(void *data, int thread, uint32_t epoch, enum mz_race_kind kind, unsigned mask);
void mz_shadow_each(uint64_t granule, mz_access_fn *f, void *data);

/* ---- pthread_keys.c ---- */
/* Call f for every use and deletion of a key that is in the history. */
void mz_keys_past(void (*f)(void *data, uint64_t granule, int thread, uint32_t epoch, enum mz_race_kind kind),
                  void *data);

/* ---- sync.c ---- */
/* Call f for all that know epoch `epoch` of the thread and are no threads; returns the threads that do. */
uint64_t mz_sync_knowers(int thread, uint32_t epoch, void (*f)(void *data, uint64_t knower), void *data);

#endif
