/* What the program's signals are: dispositions, masks, signals that were sent and not yet handled. Private to
 * signal_calls.c, which has the calls, and signal_delivery.c, which has the way from one thread to another.
 *
 * All of it belongs to the execution: it is kept before it changes (mz_keep_state), and goes back to its first
 * state before every execution. */
#ifndef MZ_RUNTIME_SIGNAL_STATE_H
#define MZ_RUNTIME_SIGNAL_STATE_H

#include "kernel.h"

#include <signal.h>

#define MZ_SIGNALS      64
#define MZ_SIGNAL_QUEUE 16u

struct mz_signal_action { /* as the kernel has it */
    uint64_t handler, flags, restorer, mask;
};

struct mz_signal {
    int32_t number, code;
    uint64_t value;  /* of sigqueue */
    uint8_t arrived; /* the handler runs at the next point of its thread, if the mask allows */
    uint8_t process; /* it was sent to the process, and may go to another thread */
    uint8_t sender;  /* slot + 1; 0: the kernel */
    uint8_t unused[5];
};

/* In the order they were sent. Of the signals below SIGRTMIN there is one of each number at most. */
struct mz_signal_queue {
    uint64_t count;
    struct mz_signal entries[MZ_SIGNAL_QUEUE];
};

struct mz_signal_thread {
    uint64_t mask;
    uint64_t waits_for; /* sigwait: the set, while it is blocked in there */
    uint64_t suspended; /* sigsuspend, pause: it is blocked in there */
    uint64_t ended;
    stack_t alternate;
    struct mz_signal_queue queue;
};

struct mz_signal_process {
    struct mz_signal_action actions[MZ_SIGNALS + 1];
    struct mz_signal_queue queue;
};

extern struct mz_signal_thread mz_signal_threads[MZ_SLOTS];
extern struct mz_signal_process mz_signal_process;

static inline uint64_t mz_signal_bit(int number) { return (uint64_t)1 << (number - 1); }

/* signal_calls.c */
void mz_signal_keep(int slot);
void mz_signal_keep_process(void);
bool mz_signal_ignored(int number);
bool mz_signal_restarts(int number); /* a call that its handler interrupts is made again (SA_RESTART) */
void mz_signal_put(struct mz_signal_queue *q, const struct mz_signal *s, const struct mz_call *call);
bool mz_signal_take(struct mz_signal_queue *q, uint64_t set, bool arrived, struct mz_signal *out);
uint64_t mz_signal_set(const struct mz_signal_queue *q, bool arrived);
void mz_signal_handle(const struct mz_signal *s, const struct mz_call *call);

/* signal_delivery.c. Each of these is an operation of the running thread on its own signals, if there are
 * other threads that could send it one: */
void mz_signal_look(const void *pc, const void *frame, enum mz_access access);
/* Sending: to a thread that is not the running one; to the process. */
void mz_signal_send(int slot, const struct mz_signal *s, const struct mz_call *call);
void mz_signal_send_process(const struct mz_signal *s, const struct mz_call *call);
void mz_signal_change_all(const struct mz_call *call); /* something that all threads look at is changed */
void mz_signal_rehome(int slot);  /* signals to the process that this thread will not take after all */
bool mz_signal_interrupted(void); /* a handler ran that does not restart calls */
void mz_signal_sleep(uint64_t *why, uint64_t set, const struct mz_call *call); /* blocked until one is sent */

#endif
