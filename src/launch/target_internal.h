/* The parts of running a target, for callers that run one (target.c) or many (dist/pool.c). */
#ifndef MZ_LAUNCH_TARGET_INTERNAL_H
#define MZ_LAUNCH_TARGET_INTERNAL_H

#include <sys/types.h>
#include "launch/target.h"

/* target_channel.c: create the memory shared with the target. Return a descriptor; or -1 with errno, for
 * mz_channel_failed(). */
int mz_channel_create(const struct mz_target *t, struct mz_outcome *outcome);
int mz_channel_failed(int error); /* MZ_STATUS_FAILED after one line */
/* Set the offsets in the channel to the command's own values: the program may have overwritten them. */
void mz_channel_restore(struct mz_channel *c, const struct mz_options_block *options);
/* Bring what the target wrote within bounds: the program may have damaged it. */
void mz_channel_tidy(struct mz_channel *c, const struct mz_options_block *options);

/* Start the target. common: descriptor of the memory that all workers share, or -1. Return its pid; or -1 with
 * errno. */
pid_t mz_target_start(const struct mz_target *t, int channel, int common);
int mz_target_no_start(const struct mz_target *t, const struct mz_outcome *outcome);

/* Does the target make progress? The answer depends on progress, on the target's processor time, and on how long it
 * was seen asleep; it does not depend on how much time has passed. So a busy machine, or a stopped target or command
 * (SIGSTOP), changes nothing.
 *
 *   progress  executions, steps, findings, system calls that have returned. Progress sets the next two to 0.
 *   used      processor seconds since the last progress: a loop without a visible operation.
 *   asleep    seconds in which every look found the target asleep and without use of the processor: it waits for
 *             something that does not come. A target that waits for a processor or a disk, or is stopped, is not asleep. */
struct mz_life {
    uint64_t sign;    /* of progress */
    double used_then; /* processor seconds at the last progress */
    double used;      /* the same now */
    double asleep;
    double looked; /* time of the last look */
};

struct mz_watch {
    struct mz_target *target;
    struct mz_outcome *outcome;
    pid_t pid;
    double started, asked; /* asked: time when we asked it to stop; 0: not yet */
    struct mz_life life;
    double first; /* time of the first look that saw executions, and their number */
    uint64_t first_executions;
    bool judged; /* target->rival */
    bool rests;  /* stopped, because another search has its turn */
};

/* Seconds between asking to stop and killing. When time is up, nobody waits for a long execution: everything that
 * counts is in the channel. */
static inline double mz_grace(const struct mz_outcome *outcome)
{
    return outcome->timed_out && !outcome->interrupted ? 0.1 : 2.0;
}
/* The target hangs: find out where it is, then kill it. */
void mz_watch_kill(struct mz_watch *w);
/* Stop the target while another search has its turn, or let it go on. */
void mz_watch_rest(struct mz_watch *w, bool rest);
/* A thread that loops without a visible operation stops the search, and so does a system call that does not return.
 * idle: the target waits for the command, which is no error. */
void mz_watch_life(struct mz_watch *w, double now, bool idle);

#endif
