/* The balancer of a shared search: keeps the nodes near the root of the tree, hands out their branches, and
 * hears what becomes of them. It knows nothing of processes and machines: messages come in and go out.
 *
 * Workers are numbers here; the caller knows what they are. The branches of a lost worker are handed out
 * again. */
#ifndef MZ_DIST_BALANCE_BALANCE_H
#define MZ_DIST_BALANCE_BALANCE_H

#include <stdbool.h>
#include <stdint.h>
#include "event/packet.h"
#include "event/channel.h"

#define MZ_MAX_WORKERS 4096

struct mz_balance;

struct mz_balance_counts {
    uint64_t executions, blocked, cut, transitions; /* of completely explored branches */
    uint64_t tasks, parts, splits, returns, updates, inserted, lost, restarts;
};

enum mz_heard {
    MZ_HEARD,         /* understood, there is no reply */
    MZ_HEARD_REPLY,   /* there is a reply for that worker */
    MZ_HEARD_RESTART, /* all is void, this worker goes on alone: end the others that had a task */
    MZ_HEARD_VOID,    /* all is void: end every worker that had a task, and give some worker a new one */
    MZ_HEARD_NONSENSE /* the worker must be ended */
};

struct mz_balance *mz_balance_new(enum mz_algorithm algorithm, bool sleep_sets, uint64_t max_steps);
/* The expected number of workers: tasks should be small enough for all of them to get some. */
void mz_balance_expect(struct mz_balance *b, uint32_t workers);
/* A worker with n parts is told about at most (n + 4) * `branches` other branches. For tests: only the number of
 * questions that workers ask depends on it. */
void mz_balance_tell(struct mz_balance *b, uint32_t branches);
void mz_balance_free(struct mz_balance *b);
/* Not a search, but a sample of walks with this seed (samples.c). Its numbers; false: it is a search. */
void mz_balance_sample(struct mz_balance *b, uint64_t seed);
bool mz_balance_sampled(const struct mz_balance *b, struct mz_sample *out);
/* Forget everything: another program follows. */
void mz_balance_reuse(struct mz_balance *b);

/* Write a task for the worker; false if there is nothing to do now. A new worker is also told what is known. */
bool mz_balance_task(struct mz_balance *b, uint32_t worker, bool is_new, struct mz_message *task);
enum mz_heard mz_balance_hear(struct mz_balance *b, uint32_t worker, struct mz_message *m,
                              struct mz_message *reply);
/* The worker has died: what it was exploring will be handed out again. */
void mz_balance_lost(struct mz_balance *b, uint32_t worker);
/* The number of executions that the worker has reported. If the worker is lost, its other executions were in
 * vain. */
uint64_t mz_balance_told(const struct mz_balance *b, uint32_t worker);

bool mz_balance_holds(const struct mz_balance *b, uint32_t worker); /* does it hold parts? */
struct mz_worker_leaves { /* executions of a worker, also those blocked or cut */
    uint64_t now;
    uint64_t expected; /* when all parts that it holds are done; 0: not known */
};
/* Estimate how much of a search that is not complete is done: from 0 to MZ_NEARLY_ALL_WORK / MZ_ALL_WORK. */
double mz_balance_share(const struct mz_balance *b, const struct mz_worker_leaves *workers);
uint64_t mz_balance_memory(const struct mz_balance *b); /* bytes of its tree */
bool mz_balance_complete(const struct mz_balance *b);   /* everything is explored */
struct mz_balance_counts mz_balance_counts(const struct mz_balance *b);

/* Write all that is still to be explored into the message; read it back into a new balancer. Branches that
 * are being explored will be explored again. */
void mz_balance_save(struct mz_balance *b, struct mz_message *m);
bool mz_balance_load(struct mz_balance *b, struct mz_message *m);

#endif
