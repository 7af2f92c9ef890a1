/* The functions of synchronization objects, and the structures that lie in program memory. For
 * src/runtime/sync, and for code of the runtime that calls these functions. */
#ifndef MZ_RUNTIME_SYNC_SYNC_H
#define MZ_RUNTIME_SYNC_SYNC_H

#include "runtime/core/runtime.h"

#include <time.h>

#define MZ_OBJECT_BYTES 4u          /* the race check treats the first 4 bytes of an object as the object */
#define MZ_NEW_BYTES    0xa5a5a5a5u /* malloc fills new memory with this */
#define MZ_DESTROYED    0x64656164u

struct mz_mutex {
    uint32_t owner; /* slot + 1; 0: free */
    uint32_t depth;
    uint64_t waiters;
    int32_t kind;                   /* glibc's place for it */
    uint32_t mark;                  /* MZ_DESTROYED */
    uint32_t owner_died;            /* robust: 1: its last owner ended; 2: and it was not made consistent */
    uint32_t released_in;           /* epoch of its last release ... */
    uint8_t released_by, unused[3]; /* ... and by whom, slot + 1 */
};

struct mz_cond {
    uint64_t waiters;   /* threads that wait and have not been woken */
    uint64_t signalers; /* threads whose pending operation is a signal: they choose among waiters */
    uint32_t mark;
};

/* mutex.c */
void mz_mutex_check(const struct mz_mutex *m);
void mz_mutex_post(struct mz_mutex *m, uint8_t op, const void *pc);
void mz_mutex_resume(struct mz_mutex *m, int slot);
void mz_mutex_take(struct mz_mutex *m);
void mz_mutex_give(struct mz_mutex *m, const void *pc, const void *frame);
int mz_mutex_lock(struct mz_mutex *m, const void *pc, const void *frame);
int mz_mutex_try(struct mz_mutex *m, int busy, const void *pc, const void *frame);
int mz_mutex_unlock(struct mz_mutex *m, const void *pc, const void *frame);
void mz_mutex_owner_ends(void); /* the running thread ends: releases its robust mutexes */

/* lock_order.c */
void mz_lock_order(const void *mutex);

/* cond.c */
int mz_cond_wait(struct mz_cond *c, struct mz_mutex *m, bool timed, const struct timespec *until,
                 const void *pc, const void *frame);
int mz_cond_signal(struct mz_cond *c, const void *pc, const void *frame);
int mz_cond_broadcast(struct mz_cond *c, const void *pc, const void *frame);
void mz_cond_kick(struct mz_cond *c, int slot, const void *pc, const void *frame);

/* semaphore.c */
void mz_semaphore_kick(void *semaphore, int slot, const void *pc, const void *frame);

/* thread.c */
int mz_thread_create(uint64_t *thread, const void *attributes, void *(*start)(void *), void *argument,
                     const void *pc, const void *frame);
int mz_thread_join(uint64_t thread, void **result, const void *pc, const void *frame);
int mz_thread_slot(uint64_t thread);
void mz_thread_kick(void *joined, int slot, const void *pc, const void *frame);

/* cancel.c */
void mz_cancel_init(void);
void mz_test_cancel(const void *pc);
enum mz_wait_kind { MZ_WAITS_COND, MZ_WAITS_SEMAPHORE, MZ_WAITS_THREAD };
void mz_cancel_publish(void *object, enum mz_wait_kind kind, const void *pc);
bool mz_cancel_withdraw(const void *pc); /* Was the thread cancelled meanwhile? */
_Noreturn void mz_cancel_act(void);
_Noreturn void mz_thread_exit(void *result);

/* keys.c */
void mz_keys_init(void);
void mz_keys_reset(void);
void mz_keys_begin(void);
void mz_keys_end(void); /* runs the destructors of the running thread */
void mz_thread_objects_end(void);

/* once.c */
void mz_once_abandoned(const void *until);
bool mz_once_begin(uint32_t *state, const char *what, const void *pc, const void *frame);
void mz_once_end(uint32_t *state, bool done, const void *frame);
void mz_once(uint32_t *state, void (*function)(void), const void *pc, const void *frame);

/* futex.c */
long mz_futex(uint64_t address, int operation, uint32_t value, const void *timeout, uint64_t address2,
              uint32_t value3, bool called, const void *pc, const void *frame);

/* time.c */
void mz_time_passes_to(const struct timespec *until, const void *pc);
void mz_time_passes_by(const struct timespec *duration, const void *pc);
bool mz_time_is_valid(const struct timespec *t);

/* Rows of the table in object_kinds.c. How a pending operation that may fail would access its object now: */
enum mz_access mz_mutex_try_access(const struct mz_pending *p);
enum mz_access mz_semaphore_try_access(const struct mz_pending *p);
enum mz_access mz_rwlock_try_access(const struct mz_pending *p);
enum mz_access mz_once_access(const struct mz_pending *p);
enum mz_access mz_cas_access(const struct mz_pending *p); /* hooks/atomic.c */
/* For reports: which thread (slot) holds the object that thread `slot` needs for its operation; -1: none. */
int mz_mutex_holder(uint64_t key, int slot, uint8_t op);
int mz_rwlock_holder(uint64_t key, int slot, uint8_t op);
int mz_once_runner(uint64_t key, int slot, uint8_t op);

/* objects.c: what all synchronization objects have in common */
void mz_post(uint8_t op, uint64_t key, enum mz_access access, bool enabled, const void *pc);
void mz_post_wait(uint64_t object, uint8_t size, const void *mutex, bool may_give_up, const void *pc);
bool mz_waits(int slot);
void mz_wait_ends(int slot);
void mz_wait_given_up(void);
void mz_enable(uint64_t slots, bool enabled);
uint64_t mz_pending_on(uint64_t key, uint8_t op);
void mz_commit_use_live(enum mz_access access, uint64_t old);
void mz_object_written(const void *object, size_t size, const void *pc, const void *frame);
/* object_kinds.c: functions that depend on the kind of the object (op.def) */
size_t mz_object_size(uint8_t op);
int mz_object_holder(uint64_t key, uint8_t op, int slot);
/* Declared as a callback in program.h: updates how the pending operation would access its object now. */
void mz_refresh(void *system, int thread);
_Noreturn void mz_misuse(const char *what, const void *object);

void mz_names_reset(void);      /* thread.c */
void mz_semaphores_reset(void); /* semaphore.c: the named ones */
void mz_name_give(int slot, const char *name);
const char *mz_name_of(int slot);
struct mz_finished;
struct mz_fact;
bool mz_keys_tell(struct mz_finished *to); /* core/facts.c */
void mz_key_learn(const struct mz_fact *fact);
void mz_keys_each(int slot, void (*f)(void *data, uint64_t word), void *data); /* keys.c */
/* await.c */
#define MZ_IN_CONDITION 255 /* rt.section while a thread evaluates the condition of its mz_await */
#define MZ_ONLY_LOADS                                                                                        \
    "a condition of mz_await that does more than to load atomic variables of up to 8 bytes and to read "     \
    "memory that does not "                                                                                  \
    "change meanwhile",                                                                                      \
        "move everything else out of the condition"
#define MZ_AWAIT_OR_SECTION "mz_await in a program with atomic sections", "use one of the two"
void mz_await_look(void);
/* A callback of the engine (program.h). */
bool mz_await_holds(void *system, int thread, const struct mz_unwritten *writes, uint32_t count);
uint64_t mz_await_read(const volatile void *address, unsigned size); /* a load while rt.imagining */
void mz_await_refuse(void); /* a condition does something that conditions must not do */
void mz_awaits_put(struct mz_message *m);
void mz_awaits_get(struct mz_message *m);
/* barrier.c */
void mz_barriers_put(struct mz_message *m);
void mz_barriers_get(struct mz_message *m);

#endif
