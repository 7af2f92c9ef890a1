/* Functions of upper rooms that lower files call: rt.up. Part of runtime.h.
 *
 * Files of the runtime call downwards by name. When a lower file has to call an upper file, it calls through
 * this table. So the two files do not need each other to link (tools/link_cycles.py). core/start.c fills the
 * table in before anything else; nothing changes it afterwards. The comment at a member names its function
 * and the files that call it. */
#ifndef MZ_RUNTIME_CORE_UPCALLS_H
#define MZ_RUNTIME_CORE_UPCALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/program.h"

struct mz_call;
/* Result of mz_signal_point. DISTURBED: a handler ran. INTERRUPTED: a handler ran, and a call that waits
 * fails with EINTR. */
enum mz_interruption { MZ_UNDISTURBED, MZ_DISTURBED, MZ_INTERRUPTED };
/* Accesses in the race history (memory/races.h). */
enum mz_race_kind { MZ_PLAIN_READ, MZ_PLAIN_WRITE, MZ_ATOMIC_READ, MZ_ATOMIC_WRITE, MZ_TOUCHED };

struct mz_upcalls {
    /* Functions of the core. */
    __attribute__((noreturn)) void (*halt)(enum mz_thread_state state); /* mz_halt: finding.c */
    __attribute__((noreturn)) void (*path_diverged)(void);              /* mz_again_diverged: schedule.c */
    void (*fiber_main)(void);                                           /* mz_fiber_main: fiber.c */
    void (*worker_leaves)(void);                                        /* mz_worker_leaves: bug.c */

    /* Functions of `memory` and `kernel` about program memory. */
    void (*describe)(struct mz_finding *f);                          /* mz_memory_describe: finding.c */
    void (*event_happened)(void);                                    /* mz_memory_check_event: schedule.c */
    uint32_t (*racing_locations)(void);                              /* mz_visible_count: finding.c */
    void (*maps_early)(void (*add)(uintptr_t start, uintptr_t end)); /* mz_maps_early: rewind/snapshot.c */

    /* Functions of `sync`. */
    int (*object_holder)(uint64_t key, uint8_t op, int slot); /* mz_object_holder: finding.c */
    size_t (*object_size)(uint8_t op);                        /* mz_object_size: memory/bounds.c */
    void (*keys_each)(int slot, void (*f)(void *data, uint64_t word),
                      void *data); /* mz_keys_each: state/state.c */
    void (*keys_past)(void (*f)(void *data, uint64_t granule, int thread, uint32_t epoch,
                                enum mz_race_kind kind),
                      void *data); /* mz_keys_past: state/race_history.c */

    void (*await_look)(void); /* mz_await_look: schedule.c */

    /* Functions of `loops` and `hooks`. */
    bool (*step_limit)(void);           /* mz_rounds_step_limit: schedule.c */
    void (*too_many_threads)(void);     /* mz_spin_without_thread: threads.c. Does not return */
    void (*stack_lent)(int slot);       /* mz_lent_stack: fiber.c */
    void (*stack_clean)(int slot);      /* mz_spin_clean: fiber.c */
    size_t (*clean_size)(void);         /* mz_spin_clean_size: rewind/undo.c */
    const char *(*import_called)(void); /* mz_imports_called: loops/spin.c */

    /* Functions of `kernel`. If rt.uses.signals, every visible operation calls signal_point. */
    enum mz_interruption (*signal_point)(const void *pc, const void *frame);
    bool (*signal_interrupts_wait)(bool always, const void *pc,
                                   const void *frame); /* sync/semaphore.c, kernel/time.c */
    void (*signal_point_volatile)(const void *pc, const void *frame, bool write); /* memory/shadow_hooks.c */
    void (*signals_spawn)(int parent, int child);                                 /* threads.c */
    void (*signal_end)(void);                                                     /* threads.c */
    void (*signals_abort)(void);                                                  /* exit.c */
    long (*kernel_call)(struct mz_call *call);                                    /* sync/futex.c */
    int (*files_hide)(int fd);                                                    /* kernel/written.c */

    /* Functions of `state`: called only while rt.hashing, or by searches that compare states. */
    void (*state_begin)(void); /* rewind/undo.c calls these */
    void (*state_node)(uint64_t changed_threads);
    void (*state_back)(uint32_t node);
    void (*state_sample)(void);
    void (*state_poison)(void);
    void (*state_kept)(const volatile void *p, size_t size);
    void (*stack_poke)(int slot);
    void (*races_spawn)(int parent, int child, uint32_t epoch); /* memory/race_order.c calls these */
    void (*races_join)(int thread, int finished);
    void (*places_stale)(void);
};

#endif
