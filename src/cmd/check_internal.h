/* Private to check.c (the command), check_prepare.c (what to run), check_explore.c (one search), check_loops.c (a second search for loops that
 * need not end) and check_findings.c (what
 * a search found). */
#ifndef MZ_CMD_CHECK_INTERNAL_H
#define MZ_CMD_CHECK_INTERNAL_H

#include "cmd/options.h"
#include "cmd/rerun.h"
#include "dist/cluster.h"
#include "report/tracefile.h"

struct mz_check {
    struct mz_settings settings;
    struct mz_program program;
    struct mz_recipe recipe;
    struct mz_outcome outcome; /* of the exploration */
    struct mz_report report;
    struct mz_finding *death;   /* made by the command if the target died without writing a finding */
    struct mz_cluster *cluster; /* NULL: mpirun did not start us, or the other ranks have left */
    bool launched;              /* mpirun started us */
    struct {                    /* time of searches that were given up */
        double seconds, processor;
        uint64_t peak_memory;
    } spent;
};

/* check_prepare.c: reads the words of the command line and builds the program. */
int mz_check_prepare(struct mz_check *c);

/* check_explore.c */
int mz_check_explore(struct mz_check *c); /* one search: c->outcome */
/* Is the search shared by workers, or saved? Fails where the algorithm can do neither. */
int mz_check_is_shared(const struct mz_settings *s, bool cluster, bool *shared);
void mz_check_dismiss_ranks(struct mz_check *c); /* send the other ranks of mpirun home */
enum mz_progress_form mz_check_progress_form(const struct mz_settings *s);

/* check_loops.c: did the search cut loops that need not end, and is the algorithm ours to choose? Then another search, which
 * knows the states that it has seen, needs no bound. `search`: explores and explains. */
bool mz_check_may_decide(const struct mz_check *c);
int mz_check_decide(struct mz_check *c, int (*search)(struct mz_check *c));

/* check_findings.c */
void mz_check_explain(struct mz_check *c); /* replay all findings: c->report.findings */
/* For tests: fails if a finding does not replay. */
int mz_check_must_replay(const struct mz_check *c);
/* How carefully must the search be run again? MZ_SAFE_OFF: its result can be trusted. */
enum mz_safe mz_check_must_be_safe(const struct mz_check *c);
void mz_check_start_over(struct mz_check *c, enum mz_safe safe); /* forget the search */
/* --preemptions=auto and the like: is there another search, with a larger bound? */
bool mz_check_next_bound(struct mz_check *c);
void mz_check_add_spent(struct mz_check *c); /* add the time of the searches that were given up */
void mz_check_drop_uncertain(struct mz_check *c);

#endif
