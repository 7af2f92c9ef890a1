/* The kinds of synchronization objects. This is the one place where the runtime goes from a kind of object
 * (op.def) to its code. The engine calls mz_refresh; reports and the check for accesses to freed memory call
 * the other functions through rt.up. */
#include "runtime/core/runtime.h"
#include "runtime/sync/sync.h"

#include <pthread.h>
#include <semaphore.h>

/* How the kinds of objects (op.def) differ, apart from their operations. */
static const struct {
    size_t size; /* of the object in the program; 0: the size of a mutex */
    int (*holder)(uint64_t key, int slot, uint8_t op);
    enum mz_access (*access)(const struct mz_pending *p); /* the access that an operation with MZ_TRAIT_FAILS
                                                           * would make now */
} kinds[MZ_OBJECT_COUNT] = {
    [MZ_OBJECT_MEMORY] = {.access = mz_cas_access},
    [MZ_OBJECT_MUTEX] = {.holder = mz_mutex_holder, .access = mz_mutex_try_access},
    [MZ_OBJECT_COND] = {.size = sizeof(pthread_cond_t)},
    [MZ_OBJECT_SEMAPHORE] = {.size = sizeof(sem_t), .access = mz_semaphore_try_access},
    [MZ_OBJECT_RWLOCK] = {sizeof(pthread_rwlock_t), mz_rwlock_holder, mz_rwlock_try_access},
    [MZ_OBJECT_ONCE] = {sizeof(pthread_once_t), mz_once_runner, mz_once_access},
    [MZ_OBJECT_CHANNEL] = {.size = 2 * sizeof(uint32_t)}, /* and more: channel.c */
    [MZ_OBJECT_BARRIER] = {.size = sizeof(pthread_barrier_t)},
};

/* Returns the size of the object of an operation. If the object may be a mutex or a spin lock, this is a
 * lower bound. */
size_t mz_object_size(uint8_t op)
{
    size_t size = kinds[mz_ops[op].object].size;
    if (size) return size;
    return rt.uses.spin_locks ? sizeof(pthread_spinlock_t) : sizeof(pthread_mutex_t);
}

int mz_object_holder(uint64_t key, uint8_t op, int slot)
{
    int (*holder)(uint64_t, int, uint8_t) = kinds[mz_ops[op].object].holder;
    return holder ? holder(key, slot, op) : -1;
}

void mz_refresh(void *system, int thread)
{
    struct mz_pending *p = &rt.view.pending[thread];
    (void)system;
    if (mz_op_in(MZ_OPS_FAIL, p->op)) p->access = (uint8_t)kinds[mz_ops[p->op].object].access(p);
}
