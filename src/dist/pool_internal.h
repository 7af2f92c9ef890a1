/* Private to the pool: pool.c (the run), pool_tasks.c (which worker explores what), pool_end.c (limits, and the ends
 * of workers), pool_worker.c (one worker), local.c and remote.c (the two kinds of workers), pool_merge.c (the
 * results) and checkpoint.c. */
#ifndef MZ_DIST_POOL_INTERNAL_H
#define MZ_DIST_POOL_INTERNAL_H

#include "dist/balance/balance.h"
#include "event/layout.h"
#include "event/link.h"
#include "dist/pool.h"
#include "launch/target_internal.h"

/* Combine small messages up to about this many bytes: MPI would split larger ones. */
#define MZ_BATCH 16384
/* Seconds of receiving at a time: a worker with many messages must not keep other workers and limits waiting. */
#define MZ_LISTEN 0.001

struct mz_pool;
struct mz_worker;

/* Where a worker runs: on this host (local.c), or with another rank of mpirun (remote.c). The pool calls these
 * functions without asking which. */
struct mz_worker_kind {
    bool is_here; /* a child of this process: counts for -j, and its layout may be the reference */
    /* messages wait for a flush until they have this many bytes together; 0: they do not wait */
    size_t batch;

    /* For all workers of the kind. */
    void (*start)(struct mz_pool *p, uint32_t wanted_here); /* start missing workers */
    bool (*listen)(struct mz_pool *p, double now);          /* receive messages; true: there may be more */

    /* To one worker. */
    void (*flush)(struct mz_worker *w); /* send what is kept in `out` */
    void (*wish)(struct mz_worker *w, enum mz_share_wish wish);
    void (*ask_to_stop)(struct mz_worker *w);
    void (*agree)(struct mz_worker *w, const struct mz_layout *layout); /* the reference layout */
    void (*before_task)(struct mz_pool *p, struct mz_worker *w);

    /* The life of one worker. */
    void (*look)(struct mz_worker *w, double now);        /* does it still make steps? */
    void (*reap)(struct mz_pool *p, struct mz_worker *w); /* call mz_pool_ended() if it has ended */
    void (*overdue)(struct mz_pool *p, struct mz_worker *w, double seconds); /* since it was asked to stop */
    void (*kill)(struct mz_worker *w);                                       /* at once */
    void (*gone)(struct mz_worker *w);                                       /* it does not run any more */
    void (*clean_up)(struct mz_worker *w); /* read what it left behind, after it ended by itself */

    /* What is wrong with one worker. */
    void (*nonsense)(struct mz_pool *p, struct mz_worker *w); /* its messages are not valid */
    void (*differs)(struct mz_pool *p, struct mz_worker *w,
                    const char *module); /* this module differs on its host */
};

extern const struct mz_worker_kind *const mz_worker_kinds[]; /* all, then NULL */

struct mz_worker {
    const struct mz_worker_kind *kind;
    struct mz_watch watch;
    struct mz_outcome outcome;
    uint32_t number; /* for the balancer */
    bool alive;
    bool hungry;                   /* waits for a task */
    bool knows;                    /* has received what is known of the search */
    bool agreed;                   /* on addresses */
    bool ours;                     /* we killed it: its results do not count */
    double processor;              /* processor seconds; known when it has ended */
    struct mz_message in, out;     /* an incomplete message from it; bytes that it has not read yet */
    struct mz_translation *layout; /* from its addresses to the reference layout; NULL: not made yet */
    int rank;                      /* another rank: its rank; see remote.h */
    struct mz_cluster *cluster;
    enum mz_share_wish wish; /* another rank: the last wish sent to it */
    bool stopped, killed;    /* elsewhere: and that, too */
    /* For its agent: what rank 0 knows already. */
    struct mz_counters sent;
    uint32_t findings_sent, slot_asked;
    uint32_t unseen_sent, writes_sent, warnings_sent, reorders_sent;
    bool begun;
};

struct mz_found { /* a finding with its schedule */
    struct mz_finding finding;
    struct mz_step *steps;
};

enum mz_saving { MZ_SAVING_NOT, MZ_SAVING_SOON }; /* SOON: when all workers have given back what they have */

struct mz_pool {
    struct mz_target *target;
    const struct mz_pool_options *options;
    struct mz_outcome *outcome;
    struct mz_balance *balance;
    struct mz_worker **workers;   /* all workers ever started */
    uint32_t count, living, most; /* ever; now; at once */
    int common_fd;
    struct mz_common *common;
    struct mz_finished *finished;     /* stateful algorithms: what the workers share; else NULL */
    uint32_t bell;                    /* of it, as last seen */
    struct mz_message message, reply; /* for the balancer */
    double started, looked;           /* when; the latter: around */
    double looked_alongside;          /* when */
    double used_before;               /* processor seconds of the command */
    double began;                     /* the search, as it is now: from the start, or when it started over */
    bool at_once;                     /* share from the start, however small the search is */
    double asked;                     /* time when all workers were asked to stop; 0: not yet */
    struct mz_layout layout; /* the reference layout: messages use its addresses; count 0: not known yet */
    struct mz_worker *first_worker; /* the worker whose layout is the reference; NULL: none yet */
    uint32_t lost;                  /* workers, in all */
    uint64_t redundant;             /* executions that were explored again */
    uint32_t killed;       /* workers killed from outside in a row, without a finished task between */
    double last_kill;      /* when */
    uint64_t memory;       /* largest size of the balancer's tree in bytes; 0: no limit */
    bool too_large;        /* the tree is larger */
    uint64_t parts_before; /* tasks handed out before the search started over */
    bool failed;           /* the pool failed: mz_fail() has printed why */
    struct {
        struct mz_found *items;
        uint32_t count;
        bool lost;             /* there are more */
    } found;                   /* by workers so far, and before */
    struct mz_counters before; /* resumed: the earlier counts */
    /* resumed: earlier lists of what was not seen, and warnings; NULL: none. See pool_merge.c */
    struct mz_channel *kept;
    enum mz_saving saving;
    double saving_since, saved; /* when */
    bool stop_when_saved, signalled;
    bool cannot_write;   /* the last checkpoint */
    bool is_saved;       /* the last one of all */
    double work_done;    /* done, estimated */
    double estimated_at; /* at this number of executions, with blocked and cut ones */
    double estimate_due; /* when to estimate again */
    /* largest number of workers that can be started here, less than wanted; 0: as many as wanted */
    uint32_t settled;
    bool is_fewer;              /* the user has been told so */
    struct mz_worker *last;     /* the worker whose end decides the outcome; NULL: none */
    struct mz_cluster *cluster; /* NULL: all workers are here */
};

/* pool.c */
int mz_pool_make_common(struct mz_pool *p);

/* pool_tasks.c */
void mz_pool_hear(struct mz_pool *p, struct mz_worker *w, struct mz_message *m);
void mz_pool_start_workers(struct mz_pool *p, double now);
void mz_pool_distribute(struct mz_pool *p); /* hand out tasks to idle workers */
uint32_t
mz_pool_most_here(const struct mz_pool *p); /* number of workers on this host when all have been started */
uint32_t
mz_pool_wanted_here(const struct mz_pool *p,
                    double now); /* number of workers at this moment: few for a search that ends soon */

/* pool_end.c */
void mz_pool_ask_to_stop(struct mz_pool *p); /* all workers */
void mz_pool_end_workers(struct mz_pool *p); /* at once */
/* The search starts over: results of workers do not count. `but` continues; NULL: no worker does. */
void mz_pool_start_over(struct mz_pool *p, const struct mz_worker *but);
void mz_pool_complete(struct mz_pool *p);           /* nothing is left to explore */
void mz_pool_interrupt(struct mz_pool *p);          /* a signal asks us to end */
void mz_pool_signal(struct mz_pool *p, int signal); /* the second signal: end at once */
void mz_pool_look_at_limits(struct mz_pool *p, double now);
void mz_pool_look_at_parts(struct mz_pool *p, double now); /* is sharing worth it? */
bool mz_pool_parts_are_small(const struct mz_pool *p, double executions, double seconds);
void mz_pool_ended(struct mz_pool *p, struct mz_worker *w); /* as its outcome says */
void mz_pool_lost(struct mz_pool *p, struct mz_worker *w);  /* with its host */
void mz_pool_forget(struct mz_pool *p,
                    struct mz_worker *w); /* other workers explore again what it has not reported */
void mz_pool_count_kill(struct mz_pool *p, const char *why); /* too many lost workers end the search */
uint32_t mz_pool_living_here(const struct mz_pool *p);       /* workers of this process, not of other ranks */
/* No more workers can be started than there are. Printed once. */
void mz_pool_fewer(struct mz_pool *p, const char *why);

/* pool_worker.c */
/* A new worker with a channel, not started yet. */
struct mz_worker *mz_worker_new(struct mz_pool *p, const struct mz_worker_kind *kind, int *fd);
void mz_worker_add(struct mz_pool *p, struct mz_worker *w);  /* add it to the pool */
void mz_worker_gone(struct mz_pool *p, struct mz_worker *w); /* it does not run any more */
void mz_worker_end(struct mz_pool *p, struct mz_worker *w);  /* at once */
void mz_worker_free(struct mz_worker *w);
void mz_worker_say(struct mz_worker *w, const struct mz_message *m);     /* with a batch: at the next flush */
void mz_worker_pass(struct mz_worker *w, const void *data, size_t size); /* messages from rank 0, unchanged */
void mz_worker_flush(struct mz_worker *w);
void mz_worker_make_room(struct mz_message *m, size_t more);

/* pool_merge.c */
void mz_pool_merge(struct mz_pool *p);
struct mz_counters mz_pool_counters(const struct mz_pool *p);
void mz_pool_found(struct mz_pool *p, const struct mz_finding *f, const struct mz_step *steps);
void mz_pool_collect(struct mz_pool *p); /* take over the new findings of workers */
/* What no worker has seen, in this run and before, and their warnings: a channel of which only these lists count,
 * with addresses of the reference layout. The caller frees it. */
struct mz_channel *mz_pool_unseen(struct mz_pool *p);

/* checkpoint.c */
int mz_checkpoint_try(const char *name); /* 0, or MZ_STATUS_FAILED after one line */
/* Rename an older checkpoint of another, unfinished search. Return 0, or MZ_STATUS_FAILED after one line. */
int mz_checkpoint_put_aside(const struct mz_pool_options *options);
void mz_checkpoint_write(struct mz_pool *p);
int mz_checkpoint_read(struct mz_pool *p); /* 0, or MZ_STATUS_FAILED after one line */

#endif
