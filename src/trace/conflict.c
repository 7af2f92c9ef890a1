/* Conflicts between operations on different objects: those of atomic sections, of awaits, and of sends to one channel. (On
 * one object, two accesses conflict unless both read or both share: mz_access_conflict.) */
#include "trace/trace.h"

/* The operations that can touch memory: if their object has a size, they do. Semaphores and condition variables have
 * no size: a LOAD or a WAIT on them does not touch memory. */
#define ON_MEMORY (MZ_OPS_ATOMIC | MZ_OPS_WAITERS)

bool mz_is_memory(const struct mz_trace *tr, uint8_t op, uint32_t object)
{
    return mz_op_in(ON_MEMORY, op) && tr->objects[object].size > 0;
}

static bool conflict_with_section(const struct mz_trace *tr, const struct mz_elem *a, const struct mz_elem *b)
{
    return (a->op == MZ_OP_SECTION && mz_is_memory(tr, b->op, b->object)) ||
           (b->op == MZ_OP_SECTION && mz_is_memory(tr, a->op, a->object));
}

/* The awaited objects that an object is, or stands for. An await of all memory reads every object that has a size. */
static uint32_t objects_of(const struct mz_object *o)
{
    return o->awaited | o->members | (o->size ? MZ_AWAITS_ALL : 0);
}

bool mz_conflict_across(const struct mz_trace *tr, const struct mz_elem *a, const struct mz_elem *b)
{
    const struct mz_object *p = &tr->objects[a->object], *q = &tr->objects[b->object];
    if (tr->sections && conflict_with_section(tr, a, b)) return true;
    if (p->members || q->members)
        return mz_access_conflict(a->access, b->access) && objects_of(p) & objects_of(q);
    return a->op == MZ_OP_SEND && b->op == MZ_OP_SEND && p->channel && p->channel == q->channel;
}
