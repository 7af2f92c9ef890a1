/* All data of synchronization objects that does not lie in program memory, in one structure. core/room.h
 * explains the words kept, cleared and rolled back. Private to src/runtime/sync. */
#ifndef MZ_RUNTIME_SYNC_ROOM_H
#define MZ_RUNTIME_SYNC_ROOM_H

#include "runtime/core/runtime.h"

#include <semaphore.h>
#include <unwind.h>

#define MZ_CONTENDED_BARRIERS 64
#define MZ_KEYS               1024u
#define MZ_MAIN_KEYS          520u  /* of the main thread; each other thread has 8 */
#define MZ_AT_END             4096u /* destructors of thread-local objects in one execution */
#define MZ_LOCK_EDGES         512u
#define MZ_LOCK_TABLE         1024u
#define MZ_NAMED_SEMAPHORES   64

struct mz_key { /* at the start of an execution, only keys from before main exist */
    void (*destructor)(void *);
    uint32_t made, deleted;
};

struct mz_at_end {
    void (*function)(void *);
    void *argument;
    struct mz_at_end *next;
};

struct mz_lock_edge { /* some thread locked `to` while it held `from` */
    const void *from, *to;
    uint64_t threads;
    uint64_t pc; /* where the first such thread locked `to` */
    uint8_t thread;
    uint8_t gates; /* other mutexes that were held each time */
    const void *gate[4];
};

struct mz_named_semaphore {
    sem_t semaphore;
    bool made;   /* in use in this execution */
    bool linked; /* can be opened by its name */
    char name[256];
};

#define MZ_AWAIT_SITES 1024

struct mz_sync_room {
    struct { /* await.c, kept unless noted otherwise */
        struct {
            uint64_t address;
            uint8_t size;
        } objects[MZ_AWAITED]; /* that conditions read: the awaited objects of the engine */
        unsigned object_count;
        struct mz_await_site { /* a condition with its argument */
            uint64_t condition, argument;
            uint32_t members; /* the objects that it has read: mz_await_key */
        } sites[MZ_AWAIT_SITES];
        unsigned site_count;
        struct mz_await_site others;       /* all conditions that there is no room for */
        struct mz_await_site *site;        /* set before each use: the condition being evaluated ... */
        const struct mz_unwritten *writes; /* ... without these events */
        uint32_t write_count;
        bool refused; /* a condition did something that conditions must not do */
    } await;
    struct { /* barrier.c, kept: barriers that are used by more threads than they wait for */
        const void *contended[MZ_CONTENDED_BARRIERS];
        unsigned contended_count;
    } barrier;
    struct {         /* cancel.c, kept: the unwinder, if the program has one */
        void *force; /* _Unwind_ForcedUnwind */
        uintptr_t (*cfa)(struct _Unwind_Context *);
        struct _Unwind_Exception objects[MZ_SLOTS]; /* of each thread that unwinds; set before each use */
    } cancel;
    struct {                         /* keys.c */
        struct mz_key keys[MZ_KEYS]; /* rolled back, part of the state */
        struct {
            uint32_t epoch;
            uint8_t by;
        } deletions[MZ_KEYS];               /* rolled back */
        bool watched[MZ_KEYS];              /* kept */
        bool told[MZ_KEYS];                 /* kept: other workers know that it is watched */
        bool is_news;                       /* kept: some of them may not know it */
        struct mz_key boot[MZ_MAIN_KEYS];   /* kept: keys at the start of main */
        void *first[MZ_KEYS];               /* kept: values of the main thread at the start of main */
        uint32_t boot_keys;                 /* kept */
        bool boot_values;                   /* kept */
        void *values[MZ_SLOTS][MZ_KEYS];    /* rolled back, part of the state */
        uint32_t used[MZ_KEYS][MZ_SLOTS];   /* rolled back: epoch of each thread's last use; 0: never */
        uint32_t noted[MZ_KEYS][MZ_SLOTS];  /* rolled back: those uses that are in the race history */
        struct mz_at_end at_end[MZ_AT_END]; /* rolled back */
        uint32_t at_end_count;              /* rolled back */
        uint32_t at_end_boot;               /* kept: the number registered before main ... */
        struct mz_at_end *at_end_main;      /* ... and the last of them */
    } keys;
    struct { /* lock_order.c, kept */
        struct mz_lock_edge edges[MZ_LOCK_EDGES];
        unsigned edge_count;
        uint32_t slots[MZ_LOCK_TABLE];                       /* base/table.h: number of an edge plus one */
        const struct mz_lock_edge *circle[MZ_WARNING_STEPS]; /* under construction */
    } lock_order;
    struct {                                                  /* semaphore.c */
        struct mz_named_semaphore named[MZ_NAMED_SEMAPHORES]; /* rolled back */
        unsigned most; /* cleared: semaphores that had a name in this execution */
        char table;    /* kept: its address is the object of sem_open and sem_unlink, which share one table */
    } semaphore;
    struct {            /* thread.c */
        uint32_t guess; /* kept: the slot after the one that mz_thread_slot found last */
        struct {
            char text[16];
            uint64_t given;
        } names[MZ_SLOTS]; /* rolled back, part of the state */
        bool any_names;    /* cleared */
    } thread;
};

extern struct mz_sync_room mz_sync_room;

#endif
