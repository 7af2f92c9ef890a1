/* Accesses to program memory: the C11 order (race_order.c), data races (shadow_check.c), objects and their
 * bounds (bounds.c, globals.c), the heap, leaks, and racing accesses as operations (racing_access.c). Any
 * code of the runtime may call these functions. */
#ifndef MZ_RUNTIME_MEMORY_MEMORY_H
#define MZ_RUNTIME_MEMORY_MEMORY_H

#include "runtime/core/runtime.h"

/* race_order.c: the C11 order */
void mz_sync_init(void);
void mz_sync_reset(void);
void mz_sync_event(void);
void mz_sync_atomic(uint32_t object, int op, int order, enum mz_access access);
void mz_sync_acquire(void);
void mz_sync_acquire_object(uint32_t object);
void mz_sync_knows(int other, uint32_t epoch);
void mz_sync_release(uint32_t object);
void mz_sync_release_part(uint32_t object);
void mz_sync_acquire_all(int thread, uint32_t object);
void mz_sync_spawn(int parent, int child);
void mz_sync_join(int thread, int finished);
void mz_sync_fence(int order);
uint32_t mz_sync_seen(int thread, int other); /* for mz_happens_before (race_order.h) */
uint32_t mz_sync_event_epoch(uint32_t event); /* the epoch of the thread when the event happened */

/* reorder.c: called after each execution; finds atomic accesses that could be reordered */
void mz_reorder_look(void);

/* shadow_*.c: data races */
void mz_shadow_init(void);
void mz_shadow_reset(void);
void mz_shadow_freed(uint64_t address, size_t size, uint8_t op, uint64_t pc);
void mz_shadow_forget(uint64_t address, size_t size);
void mz_shadow_atomic(uint64_t address, unsigned size, enum mz_access access);
/* An access by a function of libc. It counts only if the program's own code called that function. */
void mz_access_by(const void *p, size_t size, bool write, void *pc, const void *frame);
/* A function of the runtime is about to write to, or to read, a variable of its caller. */
#define MZ_WRITES_TO(p)  mz_access_by((p), sizeof *(p), true, MZ_PC(), MZ_FRAME())
#define MZ_READS_FROM(p) mz_access_by((p), sizeof *(p), false, MZ_PC(), MZ_FRAME())
void mz_access_range(const void *p, size_t size, bool write, void *pc, const void *frame);
void mz_shadow_range(uint64_t address, size_t size, bool write, uint64_t pc);

/* bounds.c: use after free, out of bounds */
void mz_memory_thread_ends(void);
bool mz_memory_check(uint64_t address, unsigned size, uint8_t op, uint64_t pc);
bool mz_memory_is_whole_page(uint64_t page);
void mz_memory_check_atomic(const volatile void *p, unsigned size);
void mz_memory_check_event(void);
void mz_memory_describe(struct mz_finding *f);

/* globals.c: bytes between the global variables of instrumented modules */
struct mz_gap {
    uint64_t start, end;
    uint64_t before, before_size, after, after_size; /* the variables before and after the gap; 0: none */
};
void mz_globals_init(void);
const struct mz_gap *mz_globals_gap(uint64_t address, size_t size); /* NULL: none there */
void mz_globals_keep_completed(void);
bool mz_globals_function(uint64_t address, uint64_t *start, uint64_t *end);
uint64_t mz_globals_variable(uint64_t address); /* where the variable begins that contains it; 0: not known */
/* whole_object.c: as mz_explore_options.region */
uint64_t mz_whole_object(void *unused, uint64_t key);

/* leaks.c */
void mz_leaks_init(void);
void mz_leaks_check(void);

/* racing_access.c: --data-races=allow */
void mz_visible_begin(void);
_Noreturn void mz_visible_add(uint64_t address, size_t size);
uint32_t mz_visible_count(void);
bool mz_visible_any(const void *p, size_t size);
bool mz_visible_access(const void *p, size_t size, bool write, bool always, const void *pc,
                       const void *frame);
void mz_visible_copy(char *to, const char *from, size_t n, void *pc, const void *frame);
void mz_visible_set(char *to, int c, size_t n, void *pc, const void *frame);

/* heap.c: blocks and arenas; allocate.c: malloc and its family */
void mz_heap_init(void);
void mz_heap_reset(void);
size_t mz_heap_boot(char **start);
size_t mz_heap_size(void); /* bytes allocated in this execution */
void mz_heap_mirror(void);
void mz_heap_cut(void);
void mz_heap_compare(void (*compare)(void *now, void *mirror, size_t size));
void mz_heap_compare_blocks(void (*compare)(void *now, void *mirror, size_t size));
void mz_heap_arena(int slot, const char **low, const char **high);
bool mz_heap_contains(uint64_t address);
int mz_heap_slot(uint64_t address); /* the thread whose arena contains the address */

#endif
