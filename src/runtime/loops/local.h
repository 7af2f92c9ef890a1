/* The local state of a thread, by which a loop that waits is recognised. Private to the loops. */
#ifndef MZ_RUNTIME_LOOPS_LOCAL_H
#define MZ_RUNTIME_LOOPS_LOCAL_H

#include "runtime/core/runtime.h"

#define MZ_LOCAL_STACK (1u << 20) /* bytes: a thread with a larger stack is not checked */
#define MZ_LOCAL_REGS  7u

struct mz_local {
    const void *pc;
    uint64_t key; /* the object of the operation: one call may make several operations, as memcpy does */
    uint64_t regs[MZ_LOCAL_REGS];
    uint32_t size; /* of the stack */
    int error;
    uint8_t held_count;
    void *held[MZ_HELD];
    char stack[MZ_LOCAL_STACK]; /* only the first `size` bytes are ever touched */
};

/* Returns the number of bytes of *l that are in use. */
static inline size_t mz_local_size(const struct mz_local *l)
{
    return offsetof(struct mz_local, stack) + l->size;
}

/* Returns the number of bytes on the running thread's stack, from the hook with this frame upwards. */
static inline size_t mz_local_depth(const void *frame)
{
    return (size_t)(rt.slots[rt.self].stack_high - (const char *)frame);
}

/* Stores the local state of the running thread in *l. The thread has called the hook with this frame, and the
 * hook returns to pc. At most MZ_LOCAL_STACK bytes are on the stack. */
void mz_local_capture(struct mz_local *l, uint64_t key, const void *pc, const void *frame);
bool mz_local_same(const struct mz_local *a, const struct mz_local *b);
uint64_t mz_local_hash(uint64_t key, const void *pc, const void *frame);

#endif
