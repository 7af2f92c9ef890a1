/* Going back: restore program memory as it was at the start of an execution (snapshot.c) or at a node of the
 * path (undo.c), and choose between going back and running again (backtrack.c). For all rooms: a file calls
 * mz_keep, mz_keep_program or mz_keep_state before it changes data that the undo log must restore. */
#ifndef MZ_RUNTIME_REWIND_REWIND_H
#define MZ_RUNTIME_REWIND_REWIND_H

#include "runtime/core/runtime.h"

/* snapshot.c: program memory */
void mz_snapshot_init(void);
void mz_snapshot_arguments(uint64_t *start, uint64_t *size);
void mz_snapshot_threads(size_t first, size_t end); /* these threads are about to be used */
void mz_snapshot_restore(void);
bool mz_snapshot_fault(uint64_t address);
void mz_snapshot_touch(const void *address, size_t size);
void mz_snapshot_touch_all(void);
bool mz_snapshot_contains(uint64_t address, size_t size);
size_t mz_snapshot_size(void); /* of pages ever written */
void mz_snapshot_mirror(void);
void mz_snapshot_compare(void (*compare)(void *now, void *mirror, size_t size));
void mz_snapshot_changed(void (*look)(const void *p, size_t size));
void mz_snapshot_scan(void (*look)(const void *from, const void *to));

/* undo_log.c: before something changes; undo.c: going back */
void mz_undo_init(void);
void mz_undo_begin(void);
void mz_undo_node(void);
void mz_undo_stack(int slot);
void mz_undo_keep(const volatile void *p, size_t size);
void mz_undo_write(const volatile void *p, size_t size);
void mz_undo_state(const volatile void *p, size_t size);
void mz_undo_thread(int slot); /* its state is about to change, although it does not run */
void mz_undo_joined(int slot); /* only the fields about its joiner are about to change */
void mz_undo_result(int slot); /* only its result is about to change */
void mz_undo_step(int thread); /* a step of the thread begins */
void mz_undo_barrier(void);
void mz_undo_give_up(void);
void mz_undo_forget(void);
bool mz_undo_reaches(uint32_t node);
void mz_undo_to(uint32_t node);

/* stack_mirrors.c */
void mz_stack_forget(int slot);
void mz_stack_mirror(int slot, const char *from);
bool mz_stack_compare(int slot, bool (*compare)(void *now, void *mirror, size_t size));

/* The runtime is about to change its own data of this execution. */
static inline void mz_keep(const volatile void *p, size_t size)
{
    if (mz_unlikely(rt.undo)) mz_undo_keep(p, size);
}
/* Program memory is about to change. */
static inline void mz_keep_program(const volatile void *p, size_t size)
{
    if (mz_unlikely(rt.undo == MZ_UNDO_WRITES)) mz_undo_write(p, size);
}
/* The runtime is about to change data that is part of the program's state. */
static inline void mz_keep_state(const volatile void *p, size_t size)
{
    if (mz_unlikely(rt.undo)) mz_undo_state(p, size);
}

/* backtrack.c: which way */
void mz_backtrack_init(void);
void mz_backtrack_plan(void);
void mz_backtrack_measured(void);

/* audit.c */
void mz_audit_init(void);
bool mz_audit_plan(bool trusted);
void mz_audit_begin(void);
void mz_audit_stop(void);
void mz_audit_node(uint64_t ran);
bool mz_audit_stack(void *now, void *mirror, size_t size);
void mz_audit_start(void);
bool mz_audit_failed(void); /* the search must start over without trust in the hooks */

/* undo.c */
bool mz_undo_announced(uint64_t word); /* was a write to the word announced since the last node? */
/* Undo the whole log of an execution with MZ_UNDO_WRITES. False: there is no whole log. */
bool mz_undo_all(void);

/* snapshot.c */
void mz_snapshot_compare_start(void (*compare)(void *now, void *saved, size_t size));

/* again.c: running a schedule again, to see whether the program is deterministic */
bool mz_again_turn(void); /* Must the next execution run from the start? */
/* The search is complete: run its last execution again. False: it was not the same. */
bool mz_again_last(void);
/* The engine says that the path leads to another node than before. */
_Noreturn void mz_again_diverged(void);

#endif
