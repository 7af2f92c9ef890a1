/* The pieces of running a target, for those who run one (target.c) or many (pool.c). */
#ifndef MZ_CMD_TARGET_INTERNAL_H
#define MZ_CMD_TARGET_INTERNAL_H

#include <sys/types.h>
#include "target.h"

/* channel.c: the memory shared with it. Returns a descriptor; or -1 with errno, for mz_channel_failed(). */
int mz_channel_create(const struct mz_target *t, struct mz_outcome *outcome);
int mz_channel_failed(int error); /* MZ_STATUS_FAILED after one line */
/* Where things lie in the channel is what the command has decided, whatever somebody wrote there. */
void mz_channel_restore(struct mz_channel *c, const struct mz_options_block *options);
/* What the target wrote is believed only within bounds: it may have been damaged by the program. */
void mz_channel_tidy(struct mz_channel *c, const struct mz_options_block *options);

/* Starts it; common: the memory that all workers share, or -1. Returns its pid; or -1 with errno. */
pid_t mz_target_start(const struct mz_target *t, int channel, int common);
int mz_target_no_start(const struct mz_target *t, const struct mz_outcome *outcome);

/* Does the target get on? Decided by progress, by processor time of the target, and by how long it was seen asleep; not
 * by how much time has passed. So a busy machine, or a target or command that is stopped (SIGSTOP), changes nothing.
 *   progress  executions, steps, findings, system calls that have returned. Starts both counts below from 0.
 *   used      processor seconds since the last progress: a loop without a visible operation.
 *   asleep    seconds, of the times it was looked at and was asleep without having used the processor: what it waits
 *             for does not come. A target that waits for a processor or a disk, or is stopped, does not sleep. */
struct mz_life {
    uint64_t sign;    /* of progress */
    double used_then; /* processor seconds at the last progress */
    double used;      /* the same now */
    double asleep;
    double looked; /* when it was last looked at */
};

struct mz_watch {
    struct mz_target *target;
    struct mz_outcome *outcome;
    pid_t pid;
    double started, asked; /* asked: when we asked it to stop; 0: not yet */
    struct mz_life life;
    double first; /* when executions were first seen, and how many there were */
    uint64_t first_executions;
    bool judged; /* target->rival */
};

/* Seconds between asking to stop and killing. An execution that takes long is not waited for when time is up:
 * all that counts is in the channel. */
static inline double mz_grace(const struct mz_outcome *outcome)
{
    return outcome->timed_out && !outcome->interrupted ? 0.1 : 2.0;
}
/* It does not come back: look where it is, then end it. */
void mz_watch_kill(struct mz_watch *w);
/* A thread that loops without a visible operation never lets the search go on, nor does a system call that does not
 * return. idle: it waits for the command, which is no fault. */
void mz_watch_life(struct mz_watch *w, double now, bool idle);

#endif
