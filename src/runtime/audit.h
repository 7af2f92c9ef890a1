/* Checking that the hooks show every write to program memory: see audit.c. Private to src/runtime. */
#ifndef MZ_RUNTIME_AUDIT_H
#define MZ_RUNTIME_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
bool mz_undo_announced(uint64_t word); /* since the last node */
bool mz_undo_all(
    void); /* Take back the whole log of an execution with MZ_UNDO_WRITES; false: there is none. */

/* heap.c, snapshot.c */
void mz_heap_compare_blocks(void (*compare)(void *now, void *mirror, size_t size));
void mz_snapshot_compare_start(void (*compare)(void *now, void *saved, size_t size));

#endif
