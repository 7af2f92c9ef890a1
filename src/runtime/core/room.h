/* The private data of the core: one structure, mz_core_room. The data that all rooms see is rt (runtime.h).
 *
 * Each room of src/runtime has such a header and such a structure. tools/runtime_globals.py, which `sh
 * tests/run.sh checks` runs, refuses any other writable variable. Each file of the room uses only its own
 * member. A comment at each member says what happens to it:
 *   kept         the member lives as long as the process
 *   cleared      the member goes back to its first value before each execution from the start
 *   rolled back  the undo log (rewind/undo.c) also restores it when the search goes back to a node */
#ifndef MZ_RUNTIME_CORE_ROOM_H
#define MZ_RUNTIME_CORE_ROOM_H

#include "event/layout.h"
#include "event/link.h"
#include "event/packet.h"
#include "runtime/core/libc_functions.h"
#include "runtime/core/runtime.h"

#define MZ_EXIT_HANDLERS 1024
#define MZ_EXIT_MODULES  64
#define MZ_EXIT_NEEDED   32
#define MZ_OWN_RANGES    512u

struct mz_exit_handler {
    void (*function)(void); /* NULL: __cxa_finalize has already run it */
    void *argument, *dso;
    bool takes_status;
};

struct mz_exit_list {                               /* rolled back, except `early` */
    struct mz_exit_handler early[MZ_EXIT_HANDLERS], /* registered before main; kept */
        entries[MZ_EXIT_HANDLERS];
    uint32_t early_count, count;
    uint32_t most; /* highest number of entries in this execution */
    bool changed;
};

struct mz_exit_module { /* a module with destructor functions */
    const char *name, *needed[MZ_EXIT_NEEDED];
    void (**array)(void), (*fini)(void);
    size_t count, needed_count;
    bool ran;
};

struct mz_fp_environment {
    unsigned char x87[28];
    uint32_t mxcsr;
};

struct _Unwind_Context;

struct mz_core_room {
    struct {             /* cxx.c, kept: the unwinder, if the program has one */
        void *backtrace; /* _Unwind_Backtrace */
        uintptr_t (*get_ip)(struct _Unwind_Context *);
        struct mz_module *unwinder; /* the library that contains it */
    } cxx;
    struct { /* exit.c */
        struct mz_exit_list at_exit, at_quick;
        struct { /* rolled back */
            struct mz_exit_module modules[MZ_EXIT_MODULES];
            size_t count;
        } ends;
        bool has_destructors; /* kept */
    } exit;
    struct {                                             /* fiber.c, kept */
        struct mz_fp_environment environments[MZ_SLOTS]; /* rolled back */
        struct mz_fp_environment first_environment;
        volatile uint32_t arrived; /* number of threads whose storage is ready */
        bool executable_stacks;
        uintptr_t stacks; /* stacks of all slots, with their gaps */
        uintptr_t large;  /* address space for larger stacks, LARGE bytes for each slot */
        char *aside;      /* high end of the stack for mz_fiber_call; NULL: none yet */
        uint32_t bounces; /* switches left in a measurement */
    } fiber;
    struct { /* layout.c, kept */
        struct mz_translation out, in;
    } layout;
    struct { /* own.c, kept */
        struct {
            uint64_t start, end;
        } ranges[MZ_OWN_RANGES];
        uint32_t count;
        uint64_t data_start, data_end; /* of our library */
        uint64_t free_start,
            free_end; /* no memory of ours is in this range; the accesses before were in it */
        uint64_t sum; /* checksum of data that is only read during the search */
    } own;
    struct {                            /* record.c, kept: */
        struct mz_place left[MZ_SLOTS]; /* where each thread was when it gave way */
    } record;
    uint32_t chosen; /* thread_states.c, kept: 1 + depth of the newest step that the engine has chosen */
    struct {         /* executions.c, kept: when to estimate how much of the search is done */
        uint64_t before;
        uint32_t next, step;
    } estimate;
    struct { /* modules.c, kept: ranges of this library and its data; addresses in libc, loader, vdso */
        uint64_t our_start, our_end, data_start, data_end;
        uintptr_t libc, loader, vdso;
    } modules;
    /* symbols.c, kept: libc's functions, by their number; NULL: not looked up yet */
    void *libc[MZ_LIBC_FUNCTIONS];
    struct { /* raw.c, kept; NULL before mz_raw_init */
        void *(*memcpy)(void *, const void *, size_t), *(*memmove)(void *, const void *, size_t);
        void *(*memset)(void *, int, size_t);
    } raw;
    struct { /* worker.c, kept */
        struct mz_link *link;
        struct mz_common *common;
        struct mz_message in;
        uint64_t given; /* when this worker last gave work away or received a task */
        uint64_t rung;  /* when this worker last woke the command */
        uint64_t started;
        uint64_t waiting_since; /* for a message */
        bool unheard;           /* the command has not been woken for the newest message */
        uint32_t last_waits;    /* after the worker was told to stop */
        uint64_t counted;
        struct mz_finished *finished; /* stateful searches: facts.c */
        bool agreed;                  /* on addresses */
        enum mz_end enough;           /* the limit that was reached */
    } worker;
};

extern struct mz_core_room mz_core_room;

#endif
