/* All data about program memory, in one structure. core/room.h explains the words kept, cleared and rolled
 * back. Private to src/runtime/memory. */
#ifndef MZ_RUNTIME_MEMORY_ROOM_H
#define MZ_RUNTIME_MEMORY_ROOM_H

#include "runtime/core/runtime.h"
#include "runtime/memory/heap.h"
#include "runtime/memory/memory.h"

#define MZ_KNOWN_ATOMICS   256u
#define MZ_HEAP_CLASSES    128
#define MZ_RACING_TABLE    (1u << 15) /* slots, for at most MZ_MAX_LOCATIONS locations */
#define MZ_SHADOW_CACHE    256u
#define MZ_REORDER_OBJECTS 128u /* further objects are not compared */
#define MZ_REORDER_TABLE   1024u
#define MZ_REORDER_PAIRS   256u
#define MZ_REORDER_KINDS   2 /* reads, writes */

struct mz_lent_range { /* the part of a thread's own memory that other threads have used in this execution */
    uint32_t execution;
    uint64_t low, high;
};

struct mz_object_set { /* a bit for each object */
    uint64_t word[MZ_REORDER_OBJECTS / 64];
};

struct mz_reorder_pair {
    uint8_t thread, kind[2], reported;
    uint8_t object[2];
    uint64_t pc[2];
};

struct mz_shadow_page {
    uint64_t page; /* address / MZ_SHADOW_PAGE */
    struct mz_shadow_cell *cells;
};

struct mz_memory_room {
    struct {                                                           /* bounds.c */
        struct mz_lent_range lent_stack[MZ_SLOTS], lent_tls[MZ_SLOTS]; /* rolled back */
        /* kept: atomic accesses to global variables that passed the check */
        uint64_t known[MZ_KNOWN_ATOMICS];
    } bounds;
    struct {                 /* globals.c, kept */
        struct mz_gap *gaps; /* sorted by address */
        uint32_t gap_count;
        uint64_t completed[MZ_MAX_MODULES];
        uint32_t completed_count;
        struct object *functions; /* sorted by address */
        uint32_t function_count;
        struct object *variables; /* sorted by address; NULL: not needed */
        uint32_t variable_count;
    } globals;
    struct {                      /* heap.c; the arenas themselves are program memory */
        char *arenas;             /* kept */
        char *boot, *boot_next;   /* kept */
        uint8_t *grains, *pages;  /* kept; what they point to is cleared, and rolled back */
        char *mirrors;            /* kept: copies of the arenas, for undo.c ... */
        char *mirrored[MZ_SLOTS]; /* cleared: ... used up to here */
        /* cleared: below this address, mirrors differ only in pages written since */
        char *compared[MZ_SLOTS];
        /* kept: does the kernel tell written pages? 0: not tried, 1: yes, 2: no */
        uint8_t watched;
        struct mz_block *last[MZ_SLOTS]; /* rolled back: header of the latest block of each arena */
        uint64_t live_blocks;            /* rolled back */
        struct {                         /* cleared: --heap=reuse */
            uint32_t head[MZ_HEAP_CLASSES];
            struct {
                struct mz_block *block;
                uint32_t next;
            } * nodes;
            uint32_t count;
        } reuse;
    } heap;
    struct {                          /* leaks.c: set and used at the end of an execution only */
        const struct mz_block **live; /* sorted by address */
        uint8_t *reached;
        uint32_t *todo;
        uint32_t count, todo_count;
    } leaks;
    struct { /* race_order.c: follows the path of the engine (mz_explore_set), except fields marked kept */
        struct mz_sync_entry *log;
        uint32_t *log_mark;
        uint32_t log_count, log_capacity;
        bool rewound; /* the next new event belongs to a node that existed before */
        bool weak;    /* kept: an atomic access had a memory order other than seq_cst */

        uint32_t done;     /* entries of the log that are processed */
        uint32_t *vectors; /* MZ_SLOTS words each; vector 0 is empty */
        uint32_t count, capacity, lanes;
        uint32_t thread[MZ_SLOTS]; /* what a thread knows */
        uint32_t met[MZ_SLOTS];    /* what its relaxed loads have read, for an acquire fence */
        uint32_t fence[MZ_SLOTS];  /* what its last release fence published */
        uint32_t *object;          /* what a mutex carries */
        uint32_t *parts;           /* what an atomic object carries: MZ_SLOTS words each */
        uint32_t *event_epoch;     /* epoch of the thread of each event */

        /* For the identity of states. Kept: */
        uint32_t *carriers; /* objects that ever carried something */
        uint32_t carrier_count;
        uint8_t *carrier;    /* enum, for each object */
        bool acquire_fences; /* the program has acquire fences: `met` matters */
    } race_order;
    struct {                             /* racing_access.c, kept */
        uint64_t table[MZ_RACING_TABLE]; /* granule numbers; 0: free */
        uint32_t applied;                /* locations in the table */
    } racing_access;
    struct { /* reorder.c, kept; `threads` and `known` are cleared before each use */
        struct thread *threads;
        struct knowledge *known;
        uint64_t number[MZ_REORDER_TABLE]; /* base/table.h: the engine's number of an object, or 0 */
        uint8_t index[MZ_REORDER_TABLE];   /* number of an atomic object in reorder.c */
        uint32_t entries;
        uint64_t key[MZ_REORDER_OBJECTS]; /* address */
        uint32_t object_count;
        uint64_t accessed[MZ_REORDER_OBJECTS][MZ_REORDER_KINDS];     /* threads, as bits */
        uint64_t pc[MZ_SLOTS][MZ_REORDER_KINDS][MZ_REORDER_OBJECTS]; /* of the last access */
        /* [t][k][o][k']: objects that t accessed as k' before it accessed o as k; `paired`: those that are
         * unordered */
        struct mz_object_set before[MZ_SLOTS][MZ_REORDER_KINDS][MZ_REORDER_OBJECTS][MZ_REORDER_KINDS];
        struct mz_object_set paired[MZ_SLOTS][MZ_REORDER_KINDS][MZ_REORDER_OBJECTS][MZ_REORDER_KINDS];
        uint64_t conflict[MZ_REORDER_OBJECTS][MZ_REORDER_KINDS][MZ_REORDER_KINDS]
                         [MZ_SLOTS]; /* threads, as bits */
        struct mz_reorder_pair pairs[MZ_REORDER_PAIRS];
        uint32_t pair_count;
        uint32_t looked, next; /* executions */
        bool news;             /* a thread accessed an object in a new way */
        bool too_many;
        struct mz_object_set reached[MZ_SLOTS]
                                    [MZ_REORDER_KINDS]; /* accesses from which there is a path to a */
    } reorder;
    struct { /* shadow_*.c, kept: data of an execution carries the number of the execution */
        struct mz_shadow_page cache[MZ_SHADOW_CACHE], *table;
        struct mz_shadow_cell *cells; /* all pages of cells, allocated one after the other; rolled back */
        struct mz_summary *summaries; /* in the same order; rolled back */
        uint32_t pages;
        struct mz_shadow_cell *split;  /* rolled back */
        uint32_t split_count;          /* cleared */
        uint32_t (*readers)[MZ_SLOTS]; /* epochs; 0: the thread has not read; rolled back */
        uint32_t (*reader_pcs)[MZ_SLOTS];
        uint32_t reader_count; /* cleared */
    } shadow;
};

extern struct mz_memory_room mz_memory_room;

#endif
