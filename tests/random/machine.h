/* The oracle's own interpreter of models: a state, the events that are possible in it, what each does.
 *
 * It is written from the meaning of models (src/model/model.h) alone and shares no code with the engine or
 * with src/model/system.c: if both agree, a common mistake is unlikely. States are plain values, copied freely.
 *
 * Besides the state of the program it computes the happens-before relation. A clock has one byte per thread
 * in a word of eight bytes: the number of the thread's events that happen before. An execution's *canonical
 * form* is the set of its events, each as (thread, its index in the thread, choice, clock): two executions
 * are equivalent (one Mazurkiewicz trace) iff they have the same set. Its hash is the sum over the events, so
 * every prefix has one.
 */
#ifndef MZ_RANDOM_MACHINE_H
#define MZ_RANDOM_MACHINE_H

#include "model/model.h"
#include "set.h"

typedef uint64_t mz_lanes; /* a clock: byte t counts events of thread t */

enum mz_feature { /* what happened in some execution of a program; for statistics */
                  MZ_FEATURE_FAILED_CAS,
                  MZ_FEATURE_FAILED_TRYLOCK,
                  MZ_FEATURE_CONTENTION,
                  MZ_FEATURE_NESTED_LOCK,
                  MZ_FEATURE_SELF_LOCK,
                  MZ_FEATURE_IDLE_UNLOCK,
                  MZ_FEATURE_VISIBLE_UNLOCK,
                  MZ_FEATURE_WAIT,
                  MZ_FEATURE_LOST_SIGNAL,
                  MZ_FEATURE_SIGNAL_WAKES,
                  MZ_FEATURE_SIGNAL_CHOICE,
                  MZ_FEATURE_EARLY_WAKE,
                  MZ_FEATURE_BROADCAST_MANY,
                  MZ_FEATURE_SEM_BLOCKS,
                  MZ_FEATURE_CHOOSE,
                  MZ_FEATURE_SPAWN,
                  MZ_FEATURE_JOIN_WAITS,
                  MZ_FEATURE_JOIN_ABSENT,
                  MZ_FEATURE_JUMP,
                  MZ_FEATURE_NO_JUMP,
                  MZ_FEATURE_ASSERT_HOLDS,
                  MZ_FEATURE_ASSERT_FAILS,
                  MZ_FEATURE_TIMEOUT,
                  MZ_FEATURE_TIMED_WOKEN,
                  MZ_FEATURE_FAILED_SEM_TRY,
                  MZ_FEATURE_READERS,
                  MZ_FEATURE_WRITER_WAITS,
                  MZ_FEATURE_READER_WAITS,
                  MZ_FEATURE_CLAIM_WAITS,
                  MZ_FEATURE_FAILED_TRYRDLOCK,
                  MZ_FEATURE_FAILED_TRYWRLOCK,
                  MZ_FEATURE_ONCE_DONE,
                  MZ_FEATURE_ONCE_WAITS,
                  MZ_FEATURE_FUTEX_WAITS,
                  MZ_FEATURE_FUTEX_GOES_ON,
                  MZ_FEATURE_FUTEX_WOKEN,
                  MZ_FEATURE_SECTION,
                  MZ_FEATURE_SECTION_MEETS,
                  MZ_FEATURE_AWAIT_WAITS,
                  MZ_FEATURE_AWAIT,
                  MZ_FEATURE_BUMP,
                  MZ_FEATURE_RECEIVE_WAITS,
                  MZ_FEATURE_RECEIVE,
                  MZ_FEATURE_RECEIVE_SELECTS,
                  MZ_FEATURE_TRY_RECEIVES,
                  MZ_FEATURE_TRY_FINDS_NOTHING,
                  MZ_FEATURE_MACHINE /* number of the features that the interpreter sets */
};

enum mz_use { MZ_USE_READ, MZ_USE_SHARE, MZ_USE_WRITE }; /* what an event does with its object */

struct mz_machine {
    const struct mz_model *m;
    uint8_t tried;      /* set of mutexes whose unlock is an event */
    uint8_t from_start; /* set of threads that exist from the start */
    bool sections;      /* atomic sections happen: a cas always writes */
    uint64_t features;  /* set of enum mz_feature, grows */
};

struct mz_state_thread {
    mz_lanes clock;  /* of its last event, joined with all that happens before its next event */
    mz_lanes signal; /* clock of the signal that woke it, until the mutex is released */
    mz_model_value regs[MZ_MODEL_REGS];
    uint8_t pc, mode;
    uint8_t held[MZ_MODEL_OBJECTS]; /* for each read-write lock: how often the thread holds it as a reader */
};

struct mz_state_object {
    mz_lanes reads, shares, writes; /* clocks of its events, by use */
    int16_t content;                /* value; count; owner or writer plus one; once: 0, runner plus one, -1 */
    uint8_t waiters;                /* of a condition variable, of a variable as a futex */
    uint8_t claims;                 /* of a read-write lock */
};

struct mz_state_message { /* of a channel; in the order of the sends, received ones stay */
    mz_lanes clock;       /* of its send */
    mz_model_value value;
    uint8_t channel, tag;
    bool taken;
};

struct mz_machine_state {
    struct mz_hash form;       /* of the execution so far */
    mz_lanes last;             /* clock of its last event */
    mz_lanes memory, sections; /* clocks of all events on variables, of all sections */
    struct mz_state_thread threads[MZ_MODEL_THREADS];
    struct mz_state_object objects[MZ_MODEL_KINDS][MZ_MODEL_OBJECTS];
    struct mz_state_message messages[MZ_MODEL_MESSAGES];
    uint8_t message_count;
    mz_lanes missed[MZ_MODEL_OBJECTS][MZ_MODEL_TAGS]; /* clocks of the receives that found nothing */
};

void mz_machine_init(struct mz_machine *k, const struct mz_model *m, bool sections);
void mz_machine_start(struct mz_machine *k, struct mz_machine_state *s);
/* The choices that the thread's next event has now, bit i for choice i; 0: not enabled. */
unsigned mz_machine_choices(struct mz_machine *k, const struct mz_machine_state *s, int thread);
/* The object of the thread's next event (-1: none), and how the event would use it if it happened now. */
int mz_machine_object(const struct mz_machine *k, const struct mz_machine_state *s, int thread);
enum mz_use mz_machine_use(const struct mz_machine *k, const struct mz_machine_state *s, int thread);
/* Are the next steps of two threads dependent, that of p in state s, that of q in state r? Either r is s, or r comes right
 * after the step of p. */
bool mz_machine_dependent(const struct mz_machine *k, const struct mz_machine_state *s, int p,
                          const struct mz_machine_state *r, int q);
/* Which event of which operation the thread does next, as a number. It changes only by a step of the thread, or by a step
 * that wakes it. */
int mz_machine_next(const struct mz_machine_state *s, int thread);
void mz_machine_step(struct mz_machine *k, struct mz_machine_state *s, int thread, int choice);
void mz_machine_outcome(const struct mz_machine *k, const struct mz_machine_state *s,
                        struct mz_model_outcome *o);
/* Hash of the state except `form` and `last`: it must be the same for equivalent executions. */
uint64_t mz_machine_check(const struct mz_machine *k, const struct mz_machine_state *s);

#endif
