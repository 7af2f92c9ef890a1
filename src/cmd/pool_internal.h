/* Private to pool.c (the run), pool_worker.c (one worker) and pool_merge.c (what came of it). */
#ifndef MZ_CMD_POOL_INTERNAL_H
#define MZ_CMD_POOL_INTERNAL_H

#include "../balance/balance.h"
#include "../event/layout.h"
#include "../event/link.h"
#include "pool.h"
#include "target_internal.h"

/* So many bytes of several messages go as one, about: of more MPI would make pieces. */
#define MZ_BATCH 16384
/* Seconds of listening at a time, or who speaks a lot would keep others waiting, and limits. */
#define MZ_LISTEN 0.001

struct mz_worker {
    struct mz_watch watch;
    struct mz_outcome outcome;
    uint32_t number; /* for the balancer */
    bool alive;
    bool hungry;                   /* waits for a task */
    bool knows;                    /* has been told what is known */
    bool agreed;                   /* on addresses */
    bool ours;                     /* we have ended it: what it did does not matter */
    double processor;              /* seconds of it that it has used; known when it has ended */
    struct mz_message in, out;     /* a message that is not complete yet; what it has not read yet */
    struct mz_translation *layout; /* from its addresses to those that all speak of; NULL: not made yet */
    int rank;                      /* 0: here; else see remote.h */
    struct mz_cluster *cluster;
    enum mz_share_wish wish; /* elsewhere: what it was last told */
    bool stopped, killed;    /* elsewhere: and that, too */
    /* For its agent: what rank 0 has been told. */
    struct mz_counters sent;
    uint32_t findings_sent, slot_asked;
    uint32_t unseen_sent, writes_sent, warnings_sent, reorders_sent;
    bool begun;
};

struct mz_found { /* a finding that is kept, with its schedule */
    struct mz_finding finding;
    struct mz_step *steps;
};

enum mz_saving { MZ_SAVING_NOT, MZ_SAVING_SOON }; /* SOON: when all workers have given back what they have */

struct mz_pool {
    struct mz_target *target;
    const struct mz_pool_options *options;
    struct mz_outcome *outcome;
    struct mz_balance *balance;
    struct mz_worker **workers;   /* all there ever were */
    uint32_t count, living, most; /* ever; now; at once */
    int common_fd;
    struct mz_common *common;
    uint32_t bell;                    /* of it, as last seen */
    struct mz_message message, reply; /* for the balancer */
    double started, looked;           /* when; the latter: around */
    double used_before;               /* seconds of a processor, by the command */
    double began;                     /* the search, as it is now: from the start, or when it started over */
    bool at_once;                     /* share from the beginning, however small */
    double asked;                     /* when all were asked to stop; 0: not yet */
    struct mz_layout layout;          /* that all addresses in messages are of; count 0: not known yet */
    struct mz_worker *origin;         /* it is of this one, who was the first */
    uint32_t lost;                    /* workers, in all */
    uint64_t redundant;               /* executions that had to be explored again */
    uint32_t killed;                  /* workers lost to kills from outside, in a row without a task done */
    double last_kill;                 /* when */
    uint64_t memory;                  /* bytes that the balancer's tree may have; 0: any */
    bool too_large;                   /* it has more */
    uint64_t parts_before;            /* handed out before the search started over */
    bool failed;                      /* could not go on: mz_fail() has said why */
    struct {
        struct mz_found *items;
        uint32_t count;
        bool lost;             /* there are more */
    } found;                   /* by workers so far, and before */
    struct mz_counters before; /* resumed: the counts of before */
    struct mz_channel
        *kept; /* resumed: what was not seen before, and warnings; NULL: nothing. See pool_merge.c */
    enum mz_saving saving;
    double saving_since, saved; /* when */
    bool stop_when_saved, signalled;
    bool cannot_write;          /* the last checkpoint */
    bool is_saved;              /* the last one of all */
    double share;               /* done, estimated */
    double estimated_at;        /* so many executions, also those blocked or cut */
    double estimate_due;        /* when to estimate again */
    uint32_t settled;           /* workers that can be had here, fewer than wanted; 0: as many as wanted */
    bool is_fewer;              /* so it has been said */
    struct mz_worker *last;     /* the one whose end decides; NULL: none */
    struct mz_cluster *cluster; /* NULL: all workers are here */
};

/* pool.c */
int mz_pool_make_common(struct mz_pool *p);
void mz_pool_hear(struct mz_pool *p, struct mz_worker *w, struct mz_message *m);
void mz_pool_ended(struct mz_pool *p, struct mz_worker *w); /* as its outcome says */
void mz_pool_lost(struct mz_pool *p, struct mz_worker *w);  /* with its host */
void mz_pool_interrupt(struct mz_pool *p);                  /* asked to end by a signal */
/* There will not be more workers than there are. Said once. */
void mz_pool_fewer(struct mz_pool *p, const char *why);

/* pool_worker.c */
struct mz_worker *mz_worker_new(struct mz_pool *p, int *fd); /* with a channel, but not started */
void mz_worker_add(struct mz_pool *p, struct mz_worker *w);  /* from now on it is one of the pool's */
struct mz_worker *mz_worker_start(struct mz_pool *p);
void mz_worker_gone(struct mz_pool *p, struct mz_worker *w); /* it does not run any more */
void mz_worker_end(struct mz_pool *p, struct mz_worker *w);  /* at once */
void mz_worker_free(struct mz_worker *w);
void mz_worker_say(struct mz_worker *w, const struct mz_message *m); /* one elsewhere: at the next flush */
void mz_worker_pass(struct mz_worker *w, const void *data, size_t size); /* what rank 0 said, as it came */
void mz_worker_flush(struct mz_worker *w);
void mz_worker_wish(struct mz_worker *w, enum mz_share_wish wish);
void mz_worker_ask_to_stop(struct mz_worker *w);
/* The next message that has come from it; false if there is none. Valid until the next call. */
bool mz_worker_hear(struct mz_worker *w, struct mz_message *m);
pid_t mz_worker_wait(struct mz_worker *w, int flags); /* as wait4() */
struct mz_link *mz_worker_link(const struct mz_worker *w);
void mz_worker_ring(struct mz_worker *w);
uint32_t mz_pool_living_here(const struct mz_pool *p); /* workers of this process, not of other ranks */
/* Is the process of a worker here about to end? */
bool mz_pool_some_leave(const struct mz_pool *p);
/* Has the bell been rung since the last call? Before looking for anything. */
bool mz_pool_rung(struct mz_pool *p);
/* Until the bell is rung, or a worker here has something to say, and no longer than that; less than a second.
 */
void mz_pool_nap(struct mz_pool *p, double seconds);

/* pool_merge.c */
void mz_pool_merge(struct mz_pool *p);
struct mz_counters mz_pool_counters(const struct mz_pool *p);
void mz_pool_found(struct mz_pool *p, const struct mz_finding *f, const struct mz_step *steps);
void mz_pool_collect(struct mz_pool *p); /* what workers have found since */
/* What no worker has seen, now and before, and their warnings: a channel of which only these lists count, with addresses
 * as all speak of them. The caller frees it. */
struct mz_channel *mz_pool_unseen(struct mz_pool *p);

/* checkpoint.c */
int mz_checkpoint_try(const char *path); /* 0, or MZ_STATUS_FAILED after one line */
/* An older one of another search, which is not finished, gets another name. 0, or the same. */
int mz_checkpoint_put_aside(const struct mz_pool_options *options);
void mz_checkpoint_write(struct mz_pool *p);
int mz_checkpoint_read(struct mz_pool *p); /* 0, or MZ_STATUS_FAILED after one line */

#endif
