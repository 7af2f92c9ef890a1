/* What the workers of a stateful search share: the table of finished states, and the facts that the states rest on.
 * It is one piece of memory, mapped by every worker and by the command. What it means for the search:
 * engine/stateful/shared_states.c.
 *
 * Any worker may die at any moment, also within these functions. So there are no locks, and nothing is ever changed
 * after it can be seen:
 *
 *   F1  A state can be found from the moment when its slot is complete: the second half of its key is written last.
 *       A slot that was begun by a worker that died stays unusable.
 *   F2  A fact can be read from the moment when it is READY. A reader does not wait for a fact that is being
 *       written: it makes the place VOID, and the writer takes another one.
 *   F3  When the table is full to five eighths, one worker copies it into one of twice the size. States that others add
 *       meanwhile go into both. If a worker dies while it copies, another one begins again. A state may get lost then:
 *       it is only explored again.
 *   F4  All memory reads as zero at first. Pages that nobody touches cost nothing. */
#ifndef MZ_EVENT_FINISHED_H
#define MZ_EVENT_FINISHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "event/packet.h"

struct mz_finished;

/* An element of a future, with the key of its object instead of the number that the object has in one worker. */
struct mz_shared_elem {
    uint64_t key;
    uint8_t has_object, size, thread, access, op, unused[3];
};

enum mz_fact_kind {
    MZ_FACT_NONE,
    MZ_FACT_OBJECT,  /* of the engine: there is an object */
    MZ_FACT_USER,    /* a thread is about to use an object */
    MZ_FACT_TRUSTED, /* something was left unexplored because only this thread uses the object */
    MZ_FACT_EDGE,    /* of the graph of operations */
    MZ_FACT_PLACE,   /* of the runtime: how threads access a place (runtime/state/race_places.c) */
    MZ_FACT_KEY      /* the deletions of a thread-specific key are part of the state (runtime/sync/keys.c) */
};

struct mz_fact {
    uint32_t status, kind; /* the former belongs to finished.c */
    uint32_t small[2];
    union {
        uint64_t words[6];
        struct mz_shared_elem elems[2];
    };
};

size_t mz_finished_size(void); /* bytes of address space */
/* The memory is new, or was used for another search. `limit`: bytes that it may use; 0: no limit. */
void mz_finished_begin(struct mz_finished *f, uint64_t limit);
uint64_t mz_finished_memory(const struct mz_finished *f);

/* Is the state finished? Then *future is what was stored with it. */
bool mz_finished_find(const struct mz_finished *f, const uint64_t key[2], uint32_t *future);
enum mz_added { MZ_ADDED, MZ_ADDED_BEFORE, MZ_ADDED_NOT };
/* The state is finished. MZ_ADDED_NOT: there is no room. */
enum mz_added mz_finished_add(struct mz_finished *f, const uint64_t key[2], uint32_t future);
/* Store a set; return its number, 0 if there is no room. Read it back; NULL if there is no such set. */
uint32_t mz_finished_put_set(struct mz_finished *f, const struct mz_shared_elem *elems, uint32_t count);
const struct mz_shared_elem *mz_finished_set(const struct mz_finished *f, uint32_t number, uint32_t *count);

/* Tell a fact to all workers; false if there is no room. */
bool mz_finished_tell(struct mz_finished *f, const struct mz_fact *fact);
uint64_t mz_finished_told(const struct mz_finished *f); /* places for facts that are taken so far */
/* The fact at this place below mz_finished_told(); NULL if the place is VOID. */
const struct mz_fact *mz_finished_fact(struct mz_finished *f, uint64_t at);

/* Rounds: each time when the search starts over, a new one begins (shared_states.c). The first has the number 0. */
uint64_t mz_finished_new_round(struct mz_finished *f);
uint64_t mz_finished_round(const struct mz_finished *f); /* the newest one */
void mz_finished_complete(struct mz_finished *f, uint64_t round);
bool mz_finished_is_complete(const struct mz_finished *f, uint64_t *round);
/* The count of states of a round. */
void mz_finished_count(struct mz_finished *f, uint64_t round, uint64_t more);
uint64_t mz_finished_states(const struct mz_finished *f, uint64_t round);
uint32_t mz_finished_worker(struct mz_finished *f); /* the number of a new worker: 0, 1, 2, ... */

/* Write everything into the message, while workers go on; read it back into memory that has just begun. States for which
 * the message has no room are left out. */
void mz_finished_save(struct mz_finished *f, struct mz_message *m);
bool mz_finished_load(struct mz_finished *f, struct mz_message *m);

#endif
