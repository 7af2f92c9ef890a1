/* The program's signals: dispositions, masks, signals that were sent and not yet handled. Private to
 * signal_calls.c, which has the calls, and signal_delivery.c, which delivers signals from one thread to
 * another.
 *
 * All of it belongs to the execution: before a change, the undo log keeps the old value (mz_keep_state), and
 * before every execution it goes back to its first state. */
#ifndef MZ_RUNTIME_KERNEL_SIGNAL_STATE_H
#define MZ_RUNTIME_KERNEL_SIGNAL_STATE_H

#include "runtime/kernel/kernel.h"

#include <signal.h>

#define MZ_SIGNALS      64
#define MZ_SIGNAL_QUEUE 16u

struct mz_signal_action { /* the kernel's struct sigaction */
    uint64_t handler, flags, restorer, mask;
};

struct mz_signal {
    int32_t number, code;
    uint64_t value;  /* of sigqueue */
    uint8_t arrived; /* the handler runs at the next point of its thread, if the mask allows */
    uint8_t process; /* sent to the process: it may go to another thread */
    uint8_t sender;  /* slot + 1; 0: the kernel */
    uint8_t unused[5];
};

/* Signals in the order in which they were sent. A number below SIGRTMIN occurs at most once. */
struct mz_signal_queue {
    uint64_t count;
    struct mz_signal entries[MZ_SIGNAL_QUEUE];
};

struct mz_signal_thread {
    uint64_t mask;
    uint64_t waits_for; /* sigwait: the set, while the thread is blocked in it */
    uint64_t suspended; /* the thread is blocked in sigsuspend or pause */
    uint64_t ended;
    stack_t alternate;
    struct mz_signal_queue queue;
};

struct mz_signal_process {
    struct mz_signal_action actions[MZ_SIGNALS + 1];
    struct mz_signal_queue queue;
};

static inline uint64_t mz_signal_bit(int number) { return (uint64_t)1 << (number - 1); }

/* signal_calls.c */
void mz_signal_keep(int slot);
void mz_signal_keep_process(void);
bool mz_signal_ignored(int number);
bool mz_signal_restarts(int number); /* its handler restarts interrupted calls (SA_RESTART) */
void mz_signal_put(struct mz_signal_queue *q, const struct mz_signal *s, const struct mz_call *call);
bool mz_signal_take(struct mz_signal_queue *q, uint64_t set, bool arrived, struct mz_signal *out);
uint64_t mz_signal_set(const struct mz_signal_queue *q, bool arrived);
void mz_signal_handle(const struct mz_signal *s, const struct mz_call *call);

/* signal_delivery.c */
/* The running thread looks at its own signals: a visible operation, if another thread could send it a
 * signal. */
void mz_signal_look(const void *pc, const void *frame, enum mz_access access);
/* Send to a thread other than the running one; send to the process. */
void mz_signal_send(int slot, const struct mz_signal *s, const struct mz_call *call);
void mz_signal_send_process(const struct mz_signal *s, const struct mz_call *call);
void mz_signal_change_all(const struct mz_call *call); /* a disposition changes */
void mz_signal_rehome(int slot);  /* give the process's signals that this thread does not take to others */
bool mz_signal_interrupted(void); /* run handlers; true: one ran that does not restart calls */
void mz_signal_sleep(uint64_t *why, uint64_t set,
                     const struct mz_call *call); /* block until a signal is sent */

#endif
