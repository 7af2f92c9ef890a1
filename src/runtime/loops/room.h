/* All data about loops that wait, in one structure. core/room.h explains the words kept, cleared and rolled
 * back. Private to src/runtime/loops. */
#ifndef MZ_RUNTIME_LOOPS_ROOM_H
#define MZ_RUNTIME_LOOPS_ROOM_H

#include "runtime/core/runtime.h"
#include "runtime/loops/local.h"
#include "runtime/state/liveness.h"

#define MZ_IDLE_REGISTERS 18
#define MZ_LENT_TABLE     4096u /* open addressing, at most half full */
#define MZ_LENT_RANGES    64u
#define MZ_SPIN_PLACES    256u

struct mz_loops_room {
    struct { /* idle.c, kept: stepping through the instructions of a loop */
        bool stepping;
        uint32_t steps, most;     /* most: 0 before the first attempt */
        uint32_t patience, since; /* Brent's algorithm: a new anchor after 1, 2, 4, ... steps */
        long long anchor[MZ_IDLE_REGISTERS];
        uint64_t pc; /* of the loop that was found */
    } idle;
    struct { /* lent.c, kept */
        struct mz_lent_entry {
            uint64_t granule;  /* number; 0: free */
            uint64_t function; /* the function whose frame contained it; 0: not known */
            uint8_t bytes;     /* lent bytes; the others may belong to a variable that only the owner uses */
        } table[MZ_LENT_TABLE];
        uint32_t count;
        struct mz_lent_span {
            uint64_t start, end; /* granules, each lent as a whole; none of them is in the table */
            uint64_t function;
        } ranges[MZ_LENT_RANGES];
        uint32_t range_count;
        bool all_lent; /* see I5 */
    } lent;
    struct {            /* clean.c, kept */
        uint32_t bytes; /* bytes of a new thread's stack that are clean, where local states are compared */
        uint64_t used;  /* slots that have had a thread, as bits */
    } clean;
    struct {                   /* local.c: data of one operation */
        struct mz_local now;   /* for its hash */
        uint64_t even;         /* behind `now`: mz_mix_words reads pairs */
        struct mz_stack stack; /* frames of the thread */
    } local;
    struct rounds *rounds;               /* rounds.c, rolled back: for each slot */
    uint32_t first_length;               /* rounds.c, kept: events of the first execution */
    struct {                             /* spin.c */
        struct mz_spin *spins;           /* rolled back: for each slot */
        bool everywhere;                 /* kept: local states are saved at all places */
        char forbidden[MZ_TEXT];         /* kept: why loops that wait are not recognised, or empty */
        bool unknown_changes;            /* kept: the reason is changes that are not seen */
        uint64_t places[MZ_SPIN_PLACES]; /* kept: addresses of code, base/table.h; at most half full */
        uint32_t place_count;            /* kept */
        /* saved during a trial: for the next thread, and for the engine after the last trial */
        struct mz_view view;
        struct { /* of the current trial */
            uint32_t operations;
            uint32_t captured; /* states */
            uint32_t anchor;   /* 1 + number of the state to compare later states with; 0: none yet */
            bool stuck;
        } last_round;
    } spin;
    struct {              /* reads.c, kept: loops that only read */
        uint64_t counted; /* reads, until reads_left was set */
        uint32_t set_to;
        uint32_t runs, depth, changes; /* at the last check */
        uint8_t self;
        uint32_t stretch; /* length of the next stretch, in reads */
        uint32_t left;    /* reads left in the current stretch; 0: none is checked */
        uint32_t patience, since;
        uint64_t idle_from;  /* reads counted when the thread last did something else */
        uint64_t alone_from; /* reads counted when the last step began */
        bool probed;         /* the probe has been made */
        bool bounded;        /* every thread stops after MOST_READS */
        bool tired;          /* the running thread stops at its next read */
        uint32_t stops;      /* threads that were stopped after seconds in a loop */
        struct mz_local anchor, now;
    } reads;
};

extern struct mz_loops_room mz_loops_room;

#endif
