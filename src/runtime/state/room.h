/* All data about states, in one structure. core/room.h explains the words kept, cleared and rolled back.
 * Private to src/runtime/state. */
#ifndef MZ_RUNTIME_STATE_ROOM_H
#define MZ_RUNTIME_STATE_ROOM_H

#include "base/table.h"
#include "runtime/core/runtime.h"
#include "runtime/state/function.h"

#define MZ_DELTA_WORDS   4096u  /* of a local state; the delta of a larger one counts as unknown */
#define MZ_STATE_SAMPLES 16384u /* slots for the states that a stateless search samples */

struct mz_race_group {
    uint64_t sum[2];
    uint32_t execution;
    uint32_t count;
    uint32_t previous, next; /* FULL: list of the groups with entries; 0 ends it */
};

struct mz_state_room {
    struct mz_state memory; /* state.c, rolled back: all words that differ from the start */
    struct {                /* delta.c, kept, except `threads`, which is rolled back */
        struct numbered *threads;
        struct mz_delta_entry {
            struct mz_state key; /* number before and delta */
            uint64_t id;
        } * table; /* base/table.h */
        uint64_t used, ids;
        uint64_t called; /* cleared: threads that have called unknown functions in this step */
        uint64_t words[MZ_DELTA_WORDS + 1]; /* of the current thread */
    } delta;
    struct {                         /* frames.c, kept */
        uint64_t start, end;         /* the executable, if it is instrumented */
        uint64_t our_start, our_end; /* this library */
    } frames;
    struct { /* function.c: the function under analysis */
        struct mz_code *code;
        /* by offset from the start: one plus the index of the instruction that begins there, or 0 */
        uint16_t *index;
        uint32_t *todo;
        const uint8_t *start, *end;
    } function;
    struct { /* kept.c, kept */
        struct mz_kept_word {
            uint64_t at, first;
        } * words;
        struct mz_table table; /* number of a word plus one, by its address */
        uint32_t count;
        char text[1 << 16]; /* the message about states that differ */
    } kept;
    struct {                  /* liveness.c, kept */
        struct mz_function f; /* the function under analysis */
        struct live *in;      /* what is live before each of its instructions */
        struct mz_live *cache;
        uint64_t walk; /* number of the current walk along a stack */
    } liveness;
    struct {                        /* race_history.c, rolled back, except fields marked kept */
        struct mz_race_group *full; /* EPOCHS for each thread; the first one is the head of the list */
        struct mz_race_group (*forked)[MZ_SLOTS + 1];
        uint32_t (*seen)[MZ_SLOTS]; /* epochs of other threads that a thread knows by forks and joins */
        struct mz_state touched;
        struct last_atomic *atomics;
        uint64_t *keys;       /* of atomics, in the order of their discovery; kept */
        uint32_t key_count;   /* kept */
        bool alone;           /* the thread that the last node scheduled was alone */
        uint64_t live, ended; /* threads that may do something; that may be joined */
    } races;
    struct { /* race_places.c, kept */
        struct place *places;
        struct lock_set *sets;
        uint32_t set_count;
        uint64_t *tracked;
        uint32_t tracked_count;
        uint64_t *news; /* many workers: granules with facts that have not been told */
        uint32_t news_count;
        bool stale;
        /* rt.runs when this round began; the least number of executions of the round */
        uint32_t round, patience;
    } places;
    struct {                                      /* state.c */
        struct mz_state states[MZ_STATE_SAMPLES]; /* kept */
        uint32_t looked, met;                     /* kept */
    } sample;
    struct {                              /* state.c */
        struct mz_state threads;          /* rolled back: sum of thread[] */
        struct mz_state thread[MZ_SLOTS]; /* rolled back */
        struct {
            struct mz_state memory, threads;
            uint64_t poison;
        } * at_node;           /* cut back with the path */
        uint64_t errno_offset; /* kept: from the thread pointer, downwards */
        uint64_t poison,
            poisons; /* the last poison on the path, or 0 (rolled back); how many there were (kept) */
        struct mz_parked running; /* registers of the thread that ran up to the node */
        char *bytes;              /* the state as a whole */
        size_t size;
    } state;
};

extern struct mz_state_room mz_state_room;

#endif
