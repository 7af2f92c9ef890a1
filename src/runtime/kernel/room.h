/* The private data of the kernel room: one structure, mz_kernel_room. core/room.h explains the words kept,
 * cleared and rolled back. Private to src/runtime/kernel. */
#ifndef MZ_RUNTIME_KERNEL_ROOM_H
#define MZ_RUNTIME_KERNEL_ROOM_H

#include "runtime/core/runtime.h"
#include "runtime/kernel/signal_state.h"

#include <sys/resource.h>
#include <time.h>
#include <ucontext.h>

#define MZ_DESCRIPTORS       1024
#define MZ_DESCRIPTOR_COPIES 64
#define MZ_DESCRIPTOR_PARTS  (2 * MZ_DESCRIPTOR_COPIES + 7)
#define MZ_LIMITS            16
#define MZ_MAP_CHANGES       1024
#define MZ_KNOWN_MAPPINGS    256

struct mz_descriptor_range {
    unsigned first, last;
};

struct mz_map_span {
    uint64_t start, end;
};

#define MZ_KERNEL_TERMS 4

/* kernel_state.c: a descriptor (device, file, flags, position) or a mapping (device, file, offset in the
 * file, size) */
struct mz_kernel_item {
    uint64_t place;
    uint64_t terms[MZ_KERNEL_TERMS];
    uint8_t user; /* slot + 1 of the thread that made it; 0: the item is free */
};

struct mz_kernel_room {
    struct { /* crash.c, kept: the crash that is being reported */
        int signal;
        uint64_t address, pc;
        void *frame;
        char *stack;
    } crash;
    struct { /* crash.c, kept: what the timer saw at its last tick */
        uint64_t execution, depth, hooks, reads;
        int idle; /* ticks without progress */
    } progress;
    struct {     /* files.c */
        struct { /* kept: descriptors that the program has at the start */
            int fd, copy, fd_flags, flags;
            long offset; /* position to go back to; negative: do not move it */
        } kept[MZ_DESCRIPTOR_COPIES];
        int kept_count;                                       /* kept */
        int lowest_copy;                                      /* kept */
        struct mz_descriptor_range free[MZ_DESCRIPTOR_PARTS]; /* kept: not open at the start */
        int free_count;                                       /* kept */
        struct mz_descriptor_use { /* valid only in the execution with this number */
            uint32_t execution;
            uint32_t epoch; /* of the last use, by `thread` */
            uint8_t thread; /* slot, or NOBODY */
            bool connects;  /* a thread can read what another thread writes */
            uint16_t group; /* number of the entry that all descriptors of the group use */
        } uses[MZ_DESCRIPTORS];
        bool opened, replaced, moved;    /* cleared */
        int directory;                   /* kept: the first working directory */
        int hidden[2];                   /* kept: descriptors of the runtime */
        int hidden_count;                /* kept */
        bool directory_changed;          /* cleared */
        int mask;                        /* cleared: the first mask, if it was changed, else -1 */
        struct rlimit limits[MZ_LIMITS]; /* kept: the first values */
        uint32_t limits_changed;         /* cleared */
    } files;
    struct {                     /* maps.c */
        uint64_t base;           /* kept */
        uint64_t next[MZ_SLOTS]; /* cleared, as are `outside` and `guarded` */
        struct mz_map_span outside[MZ_MAP_CHANGES], guarded[MZ_MAP_CHANGES];
        struct mz_map_span early[MZ_MAP_CHANGES]; /* kept: mapped before main */
        uint32_t outside_count, guarded_count, early_count;
        uint64_t brk_first; /* kept */
        uint8_t brk_user;   /* cleared: slot + 1 */
        bool used;          /* cleared */
    } maps;
    struct { /* written.c, kept */
        bool tried, works;
        int fault, map; /* descriptors */
    } written;
    struct { /* kernel_state.c, cleared; part of the state */
        struct mz_kernel_item files[MZ_DESCRIPTORS];
        struct mz_kernel_item mappings[MZ_KNOWN_MAPPINGS];
        uint64_t next[MZ_SLOTS]; /* terms for the addresses of the next mappings */
        bool used;
    } state;
    struct {                 /* poll_calls.c: used within one call */
        struct timespec now; /* a timeout of 0; the kernel writes the remaining time to it */
    } poll;
    struct {                                       /* signal_calls.c, signal_delivery.c */
        struct mz_signal_thread threads[MZ_SLOTS]; /* rolled back, part of the state */
        struct mz_signal_process process;          /* rolled back, part of the state */
        struct mz_signal_process first;            /* kept: as it was at the start */
        uint64_t first_mask;                       /* kept */
        bool changed;                              /* cleared */
        ucontext_t nowhere; /* kept: the context for a handler that interrupted no instruction */
    } signals;
    struct {         /* time.c, kept: */
        char random; /* its address is the object that calls of rand share */
    } time;
};

extern struct mz_kernel_room mz_kernel_room;

#define si mz_kernel_room.signals /* of signal_calls.c and signal_delivery.c */

#endif
