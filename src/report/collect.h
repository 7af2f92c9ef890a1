/* From the channel of an ended run to a report: the only place where addresses become names. */
#ifndef MZ_REPORT_COLLECT_H
#define MZ_REPORT_COLLECT_H

#include "report.h"
#include "symbolize.h"

struct mz_link;

struct mz_outcome { /* how a run of the target went, seen from outside */
    struct mz_channel *channel;
    uint64_t channel_size;       /* the program can change what stands in the channel itself */
    struct mz_link *link;        /* in there */
    const char *program;         /* path of what ran */
    bool timed_out, interrupted; /* we asked it to stop: time limit, SIGINT or SIGTERM */
    bool stalled;                /* it made no step for a long time */
    bool killed;                 /* it was killed, because it stalled or did not stop */
    bool lost;                   /* it was killed by somebody else, and does not die by itself */
    int wait_status;             /* of waitpid() */
    double seconds, time_limit;  /* time_limit 0: none */
    double processor;            /* seconds of processor time; only of a search that is not shared */
    double given_up;             /* sharing was not worth it: executions per second until then; else 0 */
    bool slower;                 /* than mz_target.rival, and ended because of that */
    uint64_t peak_memory;
    struct mz_sharing sharing;
};

/* Explains a finding. Names, places and operations come from the run it is part of (the replay, or the
 * exploration if replaying did not work); `schedule` is the one that leads to it. */
void mz_collect_bug(const struct mz_outcome *outcome, const struct mz_finding *finding,
                    const struct mz_step *schedule, size_t length, struct mz_bug *bug);

/* Adds a line for each variable that was written without a hook. */
void mz_collect_unseen(const struct mz_outcome *outcome, struct mz_list *out);

/* Counters, notes, verdict and its reason. report->bugs must be complete. */
void mz_collect_run(const struct mz_outcome *outcome, struct mz_report *report);

/* If the target died without a word: describes that as a finding on its live schedule. Returns false if it
 * ended properly, or because we stopped it. */
bool mz_collect_death(const struct mz_outcome *outcome, struct mz_finding *finding);

/* What a signal means, for people: "invalid memory access (SIGSEGV)". */
void mz_describe_signal(struct mz_strbuf *out, int signal, uint64_t address);

#endif
