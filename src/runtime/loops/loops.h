/* Loops that wait for other threads, and the parts of stacks that decide whether a loop has returned to an
 * earlier state. Any code of the runtime may call these functions. */
#ifndef MZ_RUNTIME_LOOPS_LOOPS_H
#define MZ_RUNTIME_LOOPS_LOOPS_H

#include "runtime/core/runtime.h"

/* lent.c: parts of stacks that other threads use */
/* Has no other thread ever used these bytes of the running thread's stack? Then the race check leaves out the access:
 * if another thread uses them later in the search, the search starts over. */
static inline bool mz_lent_is_private(const void *p, size_t size)
{
    const struct mz_slot *s = &rt.slots[rt.self];
    return (const char *)p >= s->stack_low && (const char *)p < s->private_high &&
           size <= (size_t)(s->private_high - (const char *)p);
}
bool mz_lent_contains(const void *p, size_t size);
uint8_t mz_lent_bytes(const void *p);
void mz_lent_stack(int slot);
void mz_lent_note(int owner, uint64_t address, size_t size);
void mz_lent_put(struct mz_message *m);
void mz_lent_get(struct mz_message *m);

/* reads.c: loops that only read */
bool mz_spin_tired(void);
void mz_spin_reads(const void *p, const void *pc, const void *frame);
uint64_t mz_spin_reads_counted(void);
_Noreturn void mz_spin_stop_tired(const void *pc);

/* A call that lets time pass and does nothing else: like a loop that only reads, a loop around it may be
 * endless. */
#define MZ_SPIN_PASS()                                                                                       \
    do {                                                                                                     \
        if (mz_unlikely(--rt.reads_left == 0)) mz_spin_reads(NULL, MZ_PC(), MZ_FRAME());                     \
    } while (0)

/* spin.c: loops that wait */
/* Can a thread have been stopped in a loop? */
bool mz_spin_has_places(void);
void mz_spin_unneeded(void);
_Noreturn void mz_spin_for_ever(const void *pc);
_Noreturn void mz_spin_without_thread(void);
void mz_spin_put(struct mz_message *m);
void mz_spin_get(struct mz_message *m);
void mz_spin_init(void);
void mz_spin_forbid(const char *because);
void mz_spin_note(void);
void mz_spin_reset(void);
void mz_spin(uint64_t key, const void *pc, const void *frame);
bool mz_spin_any(void);
bool mz_spin_settle(void);

/* clean.c: what a new thread finds on its stack */
void mz_spin_clean(int slot);
/* Returns how many bytes of a new thread's stack must not show their earlier contents. */
size_t mz_spin_clean_size(void);

/* rounds.c: a bound on loops that need not end */
bool mz_rounds_step_limit(void);
void mz_rounds_ended(uint32_t events);
void mz_rounds_set(bool bounded);
void mz_rounds_reset(void);
bool mz_rounds_visit(uint64_t state);
void mz_spin_count(uint64_t key, const void *pc, const void *frame);

/* The running thread is about to post an operation that no loop uses to wait (a store, sem_post). Only the
 * bound on rounds counts it, so that a loop of such operations has a bound, too. */
static inline void mz_rounds_look(uint64_t key, const void *pc, const void *frame)
{
    if (mz_unlikely(rt.rounds_bounded)) mz_spin_count(key, pc, frame);
}

/* idle.c: endless loops without hooks; called by signal handlers */
void mz_idle_look(void *context);
bool mz_idle_stop(void *context);
void mz_idle_none(void);
bool mz_idle_step(void *context);

#endif
