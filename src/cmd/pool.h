/* One search by several targets: worker processes that explore branches of the tree, and the balancer, here,
 * that hands them out (src/balance). Takes the place of mz_target_run() and has the same outcome: that of one
 * target that had explored all of it.
 *
 * The first worker begins alone. The others are started when it has not finished soon, so that small searches
 * do not pay for them and most of what makes a search start over is known by then. A worker that dies by a
 * kill from outside is replaced and its branch explored again; what else a worker's end means is what it
 * would mean if there were only one. */
#ifndef MZ_CMD_POOL_H
#define MZ_CMD_POOL_H

#include "origin.h"
#include "target.h"

struct mz_pool_options {
    uint32_t jobs;
    const char *checkpoint, *resume; /* files; NULL: none */
    double interval;                 /* seconds between checkpoints */
    const struct mz_origin *origin;  /* what a checkpoint must be of */
    struct mz_cluster *cluster;      /* NULL: there are no other ranks */
    bool starts_over;                /* the checkpoint is that of a search before, which is thrown away */
    struct mz_list
        *unseen;      /* lines about searches before this one: saved, and read when resuming; NULL: none */
    bool may_give_up; /* if each execution is a part by itself: outcome->given_up, no channel */
};

int mz_pool_run(struct mz_target *target, const struct mz_pool_options *options, struct mz_outcome *outcome);

#endif
