/* Shared by the files about loops that wait: spin.c, clean.c, reads.c. Private to them. */
#ifndef MZ_RUNTIME_LOOPS_SPIN_H
#define MZ_RUNTIME_LOOPS_SPIN_H

#include "runtime/loops/local.h"
#include "runtime/loops/loops.h"

#define MZ_SPIN_STATES   16u
#define MZ_SPIN_NO_STATE UINT32_MAX
#define MZ_SPIN_SEEN     32u

struct mz_spin {      /* of a thread */
    uint32_t changes; /* of mz_thread, when the states were saved */
    uint32_t count;
    uint32_t next;
    uint32_t stopped; /* 1 + the state in which the thread was stopped; 0: none */
    uint32_t endless; /* the thread loops for ever, whatever other threads do: see idle.c */
    uint32_t bounded; /* the thread may continue, but was stopped after some rounds: see rounds.c */
    uint32_t seen_count;
    const void *seen[MZ_SPIN_SEEN]; /* operations since then at which no state was saved */
    struct mz_local states[MZ_SPIN_STATES];
};

/* ---- spin.c ---- */

/* Saves the fields before `seen`, so that the caller may change them. */
struct mz_spin *mz_spin_self(void);
/* Saves the local state of the running thread. Returns its number. */
uint32_t mz_spin_save(struct mz_spin *s, uint64_t key, const void *pc, const void *frame);
/* Stop the running thread, in this state, for the rest of the execution. Returns only on trial. */
void mz_spin_stop(struct mz_spin *s, uint32_t state, uint64_t key, const void *pc);
void mz_spin_tried(struct mz_spin *s, uint32_t slot, bool changed);
bool mz_spin_goes_on_in_schedule(void);
bool mz_spin_is_forbidden(void);

/* ---- clean.c ---- */

void mz_clean_init(void);
/* Local states of this depth are about to be compared. If less of a new thread's stack is clean, the search
 * starts over. */
void mz_clean_need(size_t depth);
void mz_clean_put(struct mz_message *m);
void mz_clean_get(struct mz_message *m);

/* ---- reads.c ---- */

void mz_reads_init(void);
void mz_reads_put(struct mz_message *m);
void mz_reads_get(struct mz_message *m);

#endif
