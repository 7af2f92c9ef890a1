/* What all synchronization objects have in common.
 *
 * Their state lives in the program's own pthread_mutex_t, sem_t and so on, so it is rolled back with program
 * memory. Using an object is a visible operation, and an atomic access for the race check. Initialising or
 * destroying an object is not a visible operation; for the race check it is a plain write to the object. So,
 * as with all data races, mazurka finds an initialisation or destruction that is not ordered with the uses by
 * other threads, whatever the order in this execution. */
#include "runtime/core/runtime.h"
#include "runtime/memory/memory.h"
#include "runtime/sync/sync.h"

/* Post a visible operation of the running thread that may be disabled. */
void mz_post(uint8_t op, uint64_t key, enum mz_access access, bool enabled, const void *pc)
{
    rt.view.pending[rt.self] = (struct mz_pending){
        .key = key, .choices = 1, .op = op, .access = (uint8_t)access, .pc = (uintptr_t)pc};
    rt.run.threads[rt.self].state = MZ_THREAD_LOCKING;
    rt.run.threads[rt.self].wait_object = key;
    mz_enable(mz_slot_bit(rt.self), enabled);
}

/* Post RESUME: the running thread waits on the object until another thread wakes it, or until it stops waiting by
 * itself, if it may. Then it locks the mutex; NULL: none. The caller sets the state of the thread. */
void mz_post_wait(uint64_t object, uint8_t size, const void *mutex, bool may_give_up, const void *pc)
{
    mz_post(MZ_OP_RESUME, (uintptr_t)mutex, MZ_WRITES, may_give_up, pc);
    rt.view.pending[rt.self].expected = object;
    rt.view.pending[rt.self].size = size;
    rt.run.threads[rt.self].wait_object = object;
    rt.view.waiting |= mz_slot_bit(rt.self);
}

/* Is the thread still waiting? If the engine has chosen it nevertheless, it stops waiting by itself. */
bool mz_waits(int slot) { return rt.view.waiting & mz_slot_bit(slot); }

/* Another thread has woken the thread. Whether it is enabled is up to the caller. */
void mz_wait_ends(int slot) { rt.view.waiting &= ~mz_slot_bit(slot); }

/* The running thread stops waiting by itself: its operation is TIMEOUT. FUTEX_REQUEUE may have moved it to another
 * object; the engine has united the two. */
void mz_wait_given_up(void)
{
    struct mz_pending *p = &rt.view.pending[rt.self];
    p->op = MZ_OP_TIMEOUT;
    p->key = rt.run.threads[rt.self].wait_object;
    p->expected = 0;
    p->access = MZ_READS;
    mz_wait_ends(rt.self);
}

void mz_enable(uint64_t slots, bool enabled)
{
    if (enabled)
        rt.view.enabled |= slots;
    else
        rt.view.enabled &= ~slots;
}

/* Returns the threads whose pending operation is `op` on this object. */
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
    mz_commit_live(access, old, 0);
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
