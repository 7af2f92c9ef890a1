/* What all synchronization objects have in common.
 *
 * Their state lives in the program's own pthread_mutex_t, sem_t and so on, so it is rolled back with program
 * memory. Using one is a visible operation; initialising and destroying one is not: it is a plain write to
 * the object for the race check, and using it an atomic access. Whoever initialises or destroys an object
 * that others use without being ordered with them is found in whatever order it happens, as for all data
 * races. */
#include "runtime.h"
#include "pthread_objects.h"

/* Post a visible operation that may be disabled, for the running thread or for one that was just woken. */
void mz_post(int slot, uint8_t op, uint64_t key, enum mz_access access, bool enabled, const void *pc)
{
    rt.view.pending[slot] = (struct mz_pending){
        .key = key, .choices = 1, .op = op, .access = (uint8_t)access, .pc = (uintptr_t)pc};
    rt.run.threads[slot].state = MZ_THREAD_LOCKING;
    rt.run.threads[slot].wait_object = key;
    mz_enable(mz_slot_bit(slot), enabled);
}

void mz_enable(uint64_t slots, bool enabled)
{
    if (enabled)
        rt.view.enabled |= slots;
    else
        rt.view.enabled &= ~slots;
}

/* The threads whose next operation is this one, on this object. */
uint64_t mz_pending_on(uint64_t key, uint8_t op)
{
    uint64_t found = 0;
    for (uint64_t t = rt.view.alive; t; t &= t - 1) {
        const struct mz_pending *p = &rt.view.pending[__builtin_ctzll(t)];
        if (p->op == op && p->key == key) found |= t & -t;
    }
    return found;
}

void mz_commit_use_live(enum mz_access access, uint64_t old)
{
    uint64_t key = rt.view.pending[rt.self].key;
    mz_commit_live(access, old);
    mz_shadow_atomic(key, MZ_OBJECT_BYTES, MZ_WRITES);
}

void mz_object_written(const void *object, size_t size, const void *pc, const void *frame)
{
    if (rt.active) mz_access_range(object, size, true, (void *)(uintptr_t)pc, frame);
}

_Noreturn void mz_misuse(const char *what, const void *object)
{
    mz_finding_here(MZ_KIND_API_MISUSE, what, 0, (uintptr_t)object);
}
