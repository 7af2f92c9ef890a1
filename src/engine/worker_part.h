/* The worker's side of a shared search: what its files share. Private to them.
 *
 *   worker_part.c        the life of a task, and the frontier (frontier.h)
 *   worker_split.c       giving branches back to the balancer
 *   worker_questions.c   races that have to be reversed at nodes of the balancer's
 *   worker_messages.c    what goes into messages */
#ifndef MZ_ENGINE_WORKER_PART_H
#define MZ_ENGINE_WORKER_PART_H

#include "engine/reduction.h"
#include "trace/wire.h"

struct mz_share {
    bool descending;        /* on the way to a leaf of the batch: node `root` is one of its nodes, too */
    uint32_t leaves, leaf;  /* of the batch: their number; the current one */
    uint32_t next_leaf;     /* number of leaves that have been begun */
    struct mz_tally before; /* the counts when the leaf was begun */
    struct mz_step *steps;  /* the way of the task: the steps to node `top` ... */
    uint32_t way;           /* ... and their number when the task came */
    struct mz_elem *asleep; /* the steps that are put to sleep on the way, node by node */
    uint32_t *asleep_end;   /* for each node of the way: the end of its steps in `asleep` */
    uint32_t *stamps;       /* for each node: a number that no other node ever has */
    uint32_t *asked;        /* for each node: its stamp, if a question about it has not been answered yet */
    uint32_t stamp;         /* the last stamp that was given */
    uint32_t questions;     /* number of questions that have not been answered yet */
    struct mz_message held; /* questions that have not been asked yet: node, stamp, length, message */
    uint32_t held_count;
    bool unresolved;      /* the last step of the way is a thread: tell the balancer its step (resolve) */
    bool knowledge_due;   /* the balancer does not know yet what this worker knows */
    struct mz_tally told; /* the counts that the balancer has been told */
    struct mz_message out, in;
};

/* ---- worker_messages.c ---- */

/* Begin a new message, in share->out. mz_share_send() sends it to the balancer. */
struct mz_message *mz_share_begin(struct mz_exploration *x, enum mz_share_kind kind);
void mz_share_send(struct mz_exploration *x);
/* Put what the engine and the system know about objects, if the balancer does not know it yet; read it back. */
void mz_share_put_knowledge(struct mz_exploration *x, struct mz_message *m);
void mz_share_get_knowledge(struct mz_exploration *x, struct mz_message *m);
/* Put the counts up to `now` that the balancer has not been told. */
void mz_share_put_tally(struct mz_exploration *x, struct mz_message *m, struct mz_tally now);

/* ---- worker_questions.c ---- */

/* A race asks for trace.sequence, or for threads (mz_want), at node k of the balancer. Ask the balancer,
 * unless the worker knows the answer. For a sequence return the cover that the worker knows, or MZ_COVERED if
 * it has asked. */
enum mz_cover mz_share_ask_for_sequence(struct mz_exploration *x, uint32_t k);
void mz_share_ask_for_threads(struct mz_exploration *x, uint32_t k, uint64_t wanted, uint64_t add);
/* Send all questions that were held back: the worker is about to send another message about the task. */
void mz_share_ask_all(struct mz_exploration *x);
/* Forget the questions that were held back: the task has become void. */
void mz_share_drop_held(struct mz_exploration *x);
/* Take in the replies that have come, or wait for some. */
void mz_share_listen(struct mz_exploration *x, bool wait);
/* Node k is another node of the balancer from now on: send the held questions about the old node first. */
void mz_share_new_node(struct mz_exploration *x, uint32_t k);

/* ---- worker_split.c ---- */

/* After each execution: give branches to the balancer if other workers have nothing to do. */
void mz_share_offer(struct mz_exploration *x);

#endif
