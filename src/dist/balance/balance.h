/* The balancer of a shared search: keeps the nodes near the root of the tree, hands out their branches, and
 * hears what becomes of them. It knows nothing of processes and machines: messages come in and go out.
 *
 * What workers are is the caller's affair; here they are numbers. A worker that is lost gives its branch
 * back.
 */
#ifndef MZ_DIST_BALANCE_BALANCE_H
#define MZ_DIST_BALANCE_BALANCE_H

#include <stdbool.h>
#include <stdint.h>
#include "event/packet.h"
#include "event/channel.h"

#define MZ_MAX_WORKERS 4096

struct mz_balance;

struct mz_balance_counts {
    uint64_t executions, blocked, cut, transitions; /* of what is explored to its end */
    uint64_t tasks, parts, splits, returns, updates, inserted, lost, restarts;
};

enum mz_heard {
    MZ_HEARD,         /* and understood */
    MZ_HEARD_REPLY,   /* there is a reply for that worker */
    MZ_HEARD_RESTART, /* all is void, that worker goes on alone: others that had a task must be ended */
    MZ_HEARD_VOID,    /* all is void: whoever had a task must be ended, somebody must be given one */
    MZ_HEARD_NONSENSE /* the worker must be ended */
};

struct mz_balance *mz_balance_new(enum mz_algorithm algorithm, bool sleep_sets, uint64_t max_steps);
/* The expected number of workers: tasks should be small enough for all of them to get some. */
void mz_balance_expect(struct mz_balance *b, uint32_t workers);
/* How many other branches a worker is told about for each of its parts, and for four more. For tests: only the number of
 * questions that workers ask depends on it. */
void mz_balance_tell(struct mz_balance *b, uint32_t branches);
void mz_balance_free(struct mz_balance *b);
/* Forget everything: another program. */
void mz_balance_reuse(struct mz_balance *b);

/* Something to do for the worker: false if there is nothing now. A new worker is also told what is known. */
bool mz_balance_task(struct mz_balance *b, uint32_t worker, bool is_new, struct mz_message *task);
enum mz_heard mz_balance_hear(struct mz_balance *b, uint32_t worker, struct mz_message *m,
                              struct mz_message *reply);
/* The worker has died; whatever it was on is to be explored by another. */
void mz_balance_lost(struct mz_balance *b, uint32_t worker);
/* The executions that it has told of; all others that it made were in vain if it is lost. */
uint64_t mz_balance_told(const struct mz_balance *b, uint32_t worker);

bool mz_balance_holds(const struct mz_balance *b, uint32_t worker); /* it has something to do */
struct mz_worker_leaves { /* executions of a worker, also those blocked or cut */
    uint64_t now;
    uint64_t expected; /* when all that it holds is done; 0: not known */
};
/* How much is done of what is not complete, estimated, from 0 to MZ_NEARLY_ALL_WORK. */
double mz_balance_share(const struct mz_balance *b, const struct mz_worker_leaves *workers);
uint64_t mz_balance_memory(const struct mz_balance *b); /* bytes of its tree */
bool mz_balance_complete(const struct mz_balance *b);   /* everything is explored */
struct mz_balance_counts mz_balance_counts(const struct mz_balance *b);

/* All that is still to be explored, as bytes; and back, into a new balancer. Branches that are being explored
 * are to be explored again. */
void mz_balance_save(struct mz_balance *b, struct mz_message *m);
bool mz_balance_load(struct mz_balance *b, struct mz_message *m);

#endif
