/* Conflicts between operations on different objects: only those of atomic sections. (On one object, two accesses
 * conflict unless both read or both share: mz_access_conflict.) */
#include "trace/trace.h"

/* The operations that can touch memory: if their object has a size, they do. Semaphores and condition variables have
 * no size: a LOAD or a WAIT on them does not touch memory. */
#define ON_MEMORY (MZ_OPS_ATOMIC | MZ_OPS_WAITERS)

bool mz_is_memory(const struct mz_trace *tr, uint8_t op, uint32_t object)
{
    return mz_op_in(ON_MEMORY, op) && tr->objects[object].size > 0;
}

bool mz_conflict_with_section(const struct mz_trace *tr, const struct mz_elem *a, const struct mz_elem *b)
{
    return (a->op == MZ_OP_SECTION && mz_is_memory(tr, b->op, b->object)) ||
           (b->op == MZ_OP_SECTION && mz_is_memory(tr, a->op, a->object));
}
