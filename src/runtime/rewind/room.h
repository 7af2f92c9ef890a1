/* The private data of the rewind room: one structure, mz_rewind_room. Nothing in it is rolled back, because
 * this room does the rolling back. core/room.h explains the words kept and cleared. Private to
 * src/runtime/rewind. */
#ifndef MZ_RUNTIME_REWIND_ROOM_H
#define MZ_RUNTIME_REWIND_ROOM_H

#include "runtime/core/runtime.h"

#define MZ_SNAPSHOT_SEGMENTS 256

struct mz_rewind_room {
    struct {            /* audit.c, kept */
        bool planned;   /* the next execution from the start will be audited */
        bool only_ours; /* compare only variables of instrumented modules */
        uint64_t bytes; /* compared so far */
        char *tls;      /* mirrors of thread-local storage, rt.tls_size bytes for each slot */
        uint64_t errno_word;
        int (*equal)(const void *, const void *, size_t); /* memcmp of libc */
    } audit;
    struct {           /* backtrack.c, kept */
        uint8_t phase; /* enum phase */
        uint32_t left; /* executions left in this phase */
        uint64_t start;
        uint64_t ticks, most; /* of this phase: the sum, and the longest execution, which does not count */
        uint64_t back;        /* mean ticks of an execution that goes back */
        bool better;          /* going back is faster */
        bool audited;         /* the execution before was audited, and its log does not contain all writes */
    } plan;
    struct { /* snapshot.c, kept */
        struct {
            uintptr_t start, end;
            uint8_t *dirty; /* one byte for each page: it has been written */
        } segments[MZ_SNAPSHOT_SEGMENTS];
        uint32_t segment_count;
        struct {
            char *page, *saved;
        } * pages;
        uint32_t page_count;
        char *saved;  /* copies of pages, one behind the other */
        char *mirror; /* second copies, for undo.c, of the first `mirrored` pages */
        uint32_t mirrored;
        char *tls_saved;
        struct {         /* the loader's table of thread-local storage of libraries loaded later */
            uint64_t at; /* entry -1 is the number of entries, entry 0 a version */
            size_t size;
            char *saved;
        } dtv[MZ_SLOTS];
        bool dtv_changes; /* the table may change without dlopen, too */
        size_t most_tls;
        size_t thread_buffers;              /* offset of the first buffer pointer; 0: not found */
        uint64_t arguments, arguments_size; /* address range of argv and the environment */
    } snapshot;
    struct {        /* stack_mirrors.c, kept */
        char *copy; /* of the whole stack */
        const char *stack_low, *stack_high;
        const char *low; /* from here up, the copy is the stack at the last node */
    } stacks[MZ_SLOTS];
    struct { /* undo.c: cleared for an execution from the start, cut back with the path */
        char *log;
        size_t count;
        size_t small_end; /* below this, the step need not look up what it has logged */
        size_t *marks;
        uint32_t floor;  /* lowest node to which the search can go back; UINT32_MAX: none */
        uint64_t saved;  /* threads whose stack is in the log since the last node */
        uint64_t others; /* threads whose state has changed since, although they did not run */
        struct mz_view *view;
        struct mz_run *run;
        struct {
            uint64_t at, stamp;
        } * words; /* words of program memory in the log since the last node: open addressing */
        uint64_t stamp;
        uint32_t word_count;
        uint64_t *hashed; /* those of the words that belong to the sum of state.c */
        uint32_t hashed_count;
        char *tls;  /* rt.tls_size bytes for each slot */
        bool off;   /* the log is not used in this execution */
        bool whole; /* the log reaches back to before the first step */
        bool mirrors;
        uint64_t touched; /* threads whose stack or storage has been written since the last node */
        size_t last_thread[MZ_SLOTS]; /* where the newest MZ_LOG_THREAD of the thread ends in the log, or 0 */
        size_t last_stack[MZ_SLOTS];  /* the same for MZ_LOG_STACK */
        struct whole *wholes;         /* at each node; only with MZ_CHECK_UNDO */
    } undo;
};

extern struct mz_rewind_room mz_rewind_room;

#endif
