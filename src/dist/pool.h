/* One search by several targets: worker processes explore branches of the tree, and the balancer in this process
 * hands the branches out (src/dist/balance). mz_pool_run() replaces mz_target_run() and has the same outcome as one
 * target that explored everything.
 *
 * The first worker starts alone. The others start when the first one has not finished soon. So small searches do not
 * pay for them, and most reasons to start over are known by then. A worker that is killed from outside is replaced,
 * and its branch is explored again. Any other end of a worker means the same as for a single target. */
#ifndef MZ_DIST_POOL_H
#define MZ_DIST_POOL_H

#include "dist/fingerprint.h"
#include "launch/target.h"

struct mz_pool_options {
    uint32_t jobs;
    const char *checkpoint, *resume;          /* files; NULL: none */
    double interval;                          /* seconds between checkpoints */
    const struct mz_fingerprint *fingerprint; /* of this search: --resume refuses a checkpoint of another */
    struct mz_cluster *cluster;               /* NULL: there are no other ranks */
    bool starts_over;       /* the checkpoint belongs to an earlier search that is discarded */
    struct mz_list *unseen; /* text about earlier searches: saved, and read when resuming; NULL: none */
    bool may_give_up;       /* give up if each execution is a task by itself: outcome->given_up, no channel */
};

/* Does a search stay with one worker where each execution is a task by itself? Usually speed decides. For tests,
 * MAZURKA_SHARING_TRIAL=alone|together says the outcome: the pool gives up such a search whatever its speed. Then one
 * worker explores all of it, or the pool starts over. */
enum mz_trial { MZ_TRIAL_MEASURED, MZ_TRIAL_ALONE, MZ_TRIAL_TOGETHER };
enum mz_trial mz_pool_trial(void);

int mz_pool_run(struct mz_target *target, const struct mz_pool_options *options, struct mz_outcome *outcome);

#endif
