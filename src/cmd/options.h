/* Options of the sub-commands. Each is declared once, in the table of options.c: from it come the parser, "did you
 * mean", --help, the manual's list (mazurka help --man-options) and completion (mazurka help --bash-completion). */
#ifndef MZ_CMD_OPTIONS_H
#define MZ_CMD_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include "event/channel.h"
#include "base/list.h"
#include "base/strbuf.h"
#include "report/writer.h"

enum mz_for { MZ_FOR_CHECK = 1, MZ_FOR_REPLAY = 2, MZ_FOR_SHOW = 4 };

#define MZ_MAX_JOBS 1024

enum mz_when { MZ_AUTO, MZ_ALWAYS, MZ_NEVER, MZ_JSON }; /* MZ_JSON: of --progress only */

enum mz_estimate { MZ_ESTIMATE_AUTO, MZ_ESTIMATE_NEVER, MZ_ESTIMATE_ONLY };

struct mz_progress_view;
struct mz_alongside;

struct mz_settings {
    enum mz_algorithm algorithm;
    const char *algorithm_name;
    const char *algorithm_given; /* its name; NULL: none was given */
    bool portfolio;              /* several algorithms at once */
    enum mz_strategy_kind strategy;
    unsigned strategy_depth;   /* D of pct:D */
    const char *strategy_name; /* as it was given; NULL: exhaustive */
    enum mz_bound bound;       /* of the executions; see --preemptions, --delays */
    uint32_t bound_limit;
    bool bound_auto; /* 0, 1, 2, ... until the bound excludes nothing */
    bool seed_given;
    uint64_t seed;
    enum mz_backtrack backtrack;
    enum mz_safe safe;        /* not an option: set when the search was not safe, see check.c */
    const char *sleep_option; /* "sleep-sets" or "no-sleep-sets", the last that was given; NULL: none was */
    bool sleep_sets, allow_races, heap_reuse, leaks, keep_going, spurious_wakeups, strict;
    bool exact_match; /* of states */
    enum mz_capture state_capture;
    enum mz_order order;
    const char *order_given; /* its name; NULL: none was given */
    uint64_t order_seed;
    const char *stateful_option; /* an option that was given and is only for stateful algorithms */
    bool nondet_given;
    int64_t nondet_low, nondet_high;
    uint64_t max_steps, max_executions, memory_limit; /* 0: none */
    double time_limit;                                /* seconds; 0: none */
    uint32_t jobs;                                    /* worker processes */
    int on_stdout;                      /* the report format, in mz_writers, that goes to standard output */
    char *output_files[MZ_MAX_WRITERS]; /* where the report goes in each format; NULL: to no file */
    char *trace;                        /* NULL: use a default name */
    char *checkpoint, *resume;          /* NULL: none */
    char *record_tree, *classes;        /* NULL: none */
    bool eager;                         /* dpor: --update=all */
    bool count_sets;                    /* --count-sets */
    bool stateful, persistent, marks;   /* --stateful, --persistent=static, --marks */
    double checkpoint_interval;
    bool trust; /* replay: do whatever the trace says */
    bool quiet, verbose, help, version;
    enum mz_when color, progress;
    int estimate;                   /* enum mz_estimate */
    bool companions;                /* --strategy=auto: other searches may run beside an exhaustive one */
    struct mz_progress_view *board; /* a member of several searches: where its progress goes; else NULL */
    struct mz_alongside *alongside; /* gives the searches their turns; NULL: this one runs alone */
    double begun;                   /* a companion: seconds that the other searches had before it */
    struct mz_list words;           /* files, and flags for the compiler, in order */
    struct mz_list arguments;       /* words after "--": arguments of the program */
};

enum mz_algorithm mz_algorithm_named(const char *name); /* MZ_ALG_NONE if no algorithm has this name */
/* Read MAZURKA_OPTIONS, then argv[1..]. Return 0, or MZ_STATUS_FAILED after one line. */
int mz_options_parse(struct mz_settings *s, enum mz_for command, char **argv);
void mz_settings_release(struct mz_settings *s);
/* The name of the option that records the search or counts its sets, so that it must be one search by one worker, from its
 * beginning to its end; NULL: no such option was given. */
const char *mz_settings_recorded(const struct mz_settings *s);
/* Does the search explore only persistent sets from what threads may still do? */
bool mz_settings_persistent(const struct mz_settings *s);

/* The list for --help, and for the manual. */
void mz_options_help(struct mz_strbuf *out, enum mz_for command);
void mz_options_man(struct mz_strbuf *out);
/* A script for bash; `commands` are the names of all sub-commands, with spaces between them. */
void mz_options_completion(struct mz_strbuf *out, const char *commands);

bool mz_settings_color(const struct mz_settings *s, int fd);

#endif
