/* How synchronization objects look inside program memory. Private to the files that implement them. */
#ifndef MZ_RUNTIME_PTHREAD_OBJECTS_H
#define MZ_RUNTIME_PTHREAD_OBJECTS_H

#include "runtime.h"

#include <time.h>

#define MZ_OBJECT_BYTES 4u          /* of every object, for the race check */
#define MZ_NEW_BYTES    0xa5a5a5a5u /* what memory from malloc is filled with */
#define MZ_DESTROYED    0x64656164u

struct mz_mutex {
    uint32_t owner; /* slot + 1; 0: free */
    uint32_t depth;
    uint64_t waiters;
    int32_t kind;                   /* glibc's place for it */
    uint32_t mark;                  /* MZ_DESTROYED */
    uint32_t owner_died;            /* robust: its last owner ended; 2: and nobody made it consistent */
    uint32_t released_in;           /* epoch of its last release ... */
    uint8_t released_by, unused[3]; /* ... and by whom, slot + 1 */
};

struct mz_cond {
    uint64_t waiters;   /* threads that wait and have not been woken */
    uint64_t signalers; /* threads whose pending operation is to signal it: their choice is among waiters */
    uint32_t mark;
};

/* pthread_mutex.c */
void mz_mutex_check(const struct mz_mutex *m);
void mz_mutex_post(struct mz_mutex *m, int slot, const void *pc);
void mz_mutex_take(struct mz_mutex *m);
void mz_mutex_give(struct mz_mutex *m, const void *pc, const void *frame);
int mz_mutex_lock(struct mz_mutex *m, const void *pc, const void *frame);
int mz_mutex_try(struct mz_mutex *m, int busy, const void *pc, const void *frame);
int mz_mutex_unlock(struct mz_mutex *m, const void *pc, const void *frame);
void mz_mutex_owner_ends(void); /* the running thread ends: robust mutexes that it holds */

/* lock_order.c */
void mz_lock_order(const void *mutex);

/* pthread_cond.c */
int mz_cond_wait(struct mz_cond *c, struct mz_mutex *m, bool timed, const struct timespec *until,
                 const void *pc, const void *frame);
int mz_cond_signal(struct mz_cond *c, const void *pc, const void *frame);
int mz_cond_broadcast(struct mz_cond *c, const void *pc, const void *frame);
void mz_cond_kick(struct mz_cond *c, int slot, const void *pc, const void *frame);

/* semaphore.c */
void mz_semaphore_kick(void *semaphore, int slot, const void *pc, const void *frame);

/* pthread_thread.c */
int mz_thread_create(uint64_t *thread, const void *attributes, void *(*start)(void *), void *argument,
                     const void *pc, const void *frame);
int mz_thread_join(uint64_t thread, void **result, const void *pc, const void *frame);
int mz_thread_slot(uint64_t thread);
void mz_thread_kick(void *joined, int slot, const void *pc, const void *frame);

/* pthread_cancel.c */
void mz_cancel_init(void);
void mz_test_cancel(const void *pc);
enum mz_wait_kind { MZ_WAITS_COND, MZ_WAITS_SEMAPHORE, MZ_WAITS_THREAD };
void mz_cancel_publish(void *object, enum mz_wait_kind kind, const void *pc);
bool mz_cancel_withdraw(const void *pc); /* was it cancelled meanwhile? */
_Noreturn void mz_cancel_act(void);
_Noreturn void mz_thread_exit(void *result);

/* pthread_keys.c */
void mz_keys_init(void);
void mz_keys_reset(void);
void mz_keys_begin(void);
void mz_keys_end(void); /* destructors of the running thread */
void mz_thread_objects_end(void);

/* pthread_once.c */
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

#endif
