/* The sequence v = notdep(e, E).e' of a race, and whether a step can come first in it. See sequence.c. */
#ifndef MZ_TRACE_SEQUENCE_H
#define MZ_TRACE_SEQUENCE_H

#include "trace/event.h"

struct mz_trace;
struct mz_race;

/* What a step that has been or will be explored covers. MZ_UNCOVERED: not v. MZ_COVERED: v as it is. MZ_SETTLED: every
 * sequence that starts with the core of v. */
enum mz_cover { MZ_UNCOVERED, MZ_COVERED, MZ_SETTLED };

/* v, indexed so that weak initials are found without a walk over all of it: for each thread its first element, for
 * each object its elements in order. Elements can be taken out. */
#define MZ_END UINT32_MAX
struct mz_sequence {
    struct mz_elem *elems; /* thread MZ_NOBODY: taken out */
    uint32_t *next_of_thread, *next_of_object;
    uint32_t *next_conflict; /* the next element on the same object that conflicts with this one */
    uint32_t count;
    uint32_t core; /* elements [0, core) are e' and the events before e' in E */
    uint32_t keep; /* no element from here on is needed */
    /* elements that kept some step from coming first in v; also, always, e' and what is before it */
    bool *needed;
    const struct mz_race *race; /* NULL: the sequence came with a message */
    bool whole;                 /* false: only the core has been built */
    uint32_t first_of_thread[MZ_MAX_THREADS];
    uint32_t *first_of_object; /* valid where stamp_of_object is the current stamp */
    uint32_t *stamp_of_object, stamp;
    uint32_t leaf;      /* mz_wakeup_insert: the leaf that stands for v */
    bool leaf_is_new;   /* the insertion has made it */
    mz_number *numbers; /* of the events; 0: e', which may never have happened */
    uint32_t *clocks;   /* of a sequence that came with a message */
};

/* Build the core of v into tr->sequence. The race must stay where it is while the sequence is in use. */
void mz_sequence_build(struct mz_trace *tr, const struct mz_race *race);
/* Add the events of v that come after e' in E. */
void mz_sequence_complete(struct mz_trace *tr, struct mz_sequence *v);
/* Is p in WI(v)? Either its step is in v with nothing before it that conflicts: *at says where. Or it conflicts with
 * nothing in v: *at is MZ_END. If p is not in WI(v), mark the element that shows this as needed. While only the core
 * has been built, MZ_COVERED means that the core does not tell. */
enum mz_cover mz_sequence_weak_initial(const struct mz_trace *tr, struct mz_sequence *v,
                                       const struct mz_elem *p, uint32_t *at);
/* Take out the element, which is the first of its thread. */
void mz_sequence_take(struct mz_sequence *v, uint32_t at);
/* Mark as needed everything that happens before a needed element. */
void mz_sequence_close(const struct mz_trace *tr, struct mz_sequence *v);
/* The clock of the event of element i. */
const uint32_t *mz_sequence_clock(const struct mz_trace *tr, const struct mz_sequence *v, uint32_t i);
/* A message has put all elements into tr->sequence, with numbers and clocks; the first `keep` are needed. */
void mz_sequence_given(struct mz_trace *tr, uint32_t count, uint32_t core, uint32_t keep);

#endif
