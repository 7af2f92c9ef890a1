/* From the channel of an ended run to a report: the only place where addresses become names. */
#ifndef MZ_REPORT_COLLECT_H
#define MZ_REPORT_COLLECT_H

#include "report/interval.h"
#include "report/report.h"
#include "report/symbolize/symbolize.h"

struct mz_link;

struct mz_outcome { /* how a run of the target ended, seen from outside */
    struct mz_channel *channel;
    uint64_t channel_size;       /* the program can change what stands in the channel itself */
    struct mz_link *link;        /* in there */
    const char *program;         /* path of what ran */
    bool timed_out, interrupted; /* we asked it to stop: time limit, SIGINT or SIGTERM */
    bool stalled;                /* it made no step for a long time */
    bool killed;                 /* it was killed, because it stalled or did not stop */
    bool lost;                   /* somebody else killed it, not the program itself */
    int wait_status;             /* of waitpid() */
    double seconds, time_limit;  /* time_limit 0: none */
    double processor;            /* seconds of processor time; only of a search that is not shared */
    double given_up;             /* sharing did not pay: executions per second until then; otherwise 0 */
    bool slower;                 /* slower than mz_target.rival, and ended for that reason */
    uint64_t peak_memory;
    struct mz_sharing sharing;
    struct mz_interval estimate; /* of the executions of the whole search */
};

/* Explain a finding. Names, places and operations come from its run (the replay, or the exploration if the replay
 * did not work). `schedule` leads to the finding. */
void mz_collect_finding(const struct mz_outcome *outcome, const struct mz_finding *f,
                        const struct mz_step *schedule, size_t length, struct mz_finding_report *finding);

/* Add a line for each variable that was written without a hook. */
void mz_collect_unseen(const struct mz_outcome *outcome, struct mz_list *out);

/* Counters, notes, verdict and its reason. report->findings must be complete. */
void mz_collect_run(const struct mz_outcome *outcome, struct mz_report *report);

/* If the target died without writing a finding: describe its death as a finding on its live schedule. Return false
 * if it ended properly, or because we stopped it. */
bool mz_collect_death(const struct mz_outcome *outcome, struct mz_finding *finding);

/* A signal in words: "invalid memory access (SIGSEGV)". */
void mz_describe_signal(struct mz_strbuf *out, int signal, uint64_t address);

#endif
