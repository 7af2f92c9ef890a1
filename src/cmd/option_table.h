/* One row of the table of options. Private to options.c (the table), option_values.c (storing values),
 * options_parse.c (reading the command line) and options_help.c (help, manual, completion). */
#ifndef MZ_CMD_OPTION_TABLE_H
#define MZ_CMD_OPTION_TABLE_H

#include <stddef.h>
#include "cmd/options.h"

struct mz_option;

/* Store a value in the settings. `value` is NULL if none was given. Return 0, or MZ_STATUS_FAILED after one line. */
typedef int mz_option_store(struct mz_settings *s, const struct mz_option *o, const char *value);

enum mz_takes { MZ_TAKES_NOTHING, MZ_TAKES_MAYBE, MZ_TAKES_VALUE };

struct mz_option {
    const char *name;
    char letter; /* 0: none */
    enum mz_takes takes;
    const char *argument; /* its name in help */
    unsigned commands;    /* set of enum mz_for */
    const char *help;
    mz_option_store *store;
    size_t field;             /* the member of struct mz_settings that the general functions below store in */
    const char *const *words; /* all possible values, then NULL; NULL: numbers, names of files and the like */
    bool is_stateful;         /* only for stateful algorithms */
};

extern const struct mz_option mz_option_table[];
extern const size_t mz_option_table_size;

/* ---- for any option: they store in its field ---- */
mz_option_store mz_option_flag;   /* bool: true */
mz_option_store mz_option_either; /* bool: false for the first word, true for the second */
mz_option_store mz_option_word;   /* enum: the number of the word */
mz_option_store mz_option_count;  /* uint64_t, at least 1 */
mz_option_store mz_option_file;   /* char * */
mz_option_store
    mz_option_output; /* a report in the format of the option's name, to a file or standard output */
mz_option_store mz_option_not_yet; /* refuse; help and manual do not list the option */

/* ---- for one option each ---- */
mz_option_store mz_option_algorithm, mz_option_strategy, mz_option_seed, mz_option_bound,
    mz_option_sleep_sets, mz_option_state_capture, mz_option_order, mz_option_order_seed,
    mz_option_nondet_range, mz_option_max_steps, mz_option_time_limit, mz_option_memory_limit, mz_option_jobs,
    mz_option_checkpoint_interval, mz_option_quiet, mz_option_verbose;

extern const char *const mz_algorithm_words[]; /* the values of --algorithm, then NULL */
extern const char *const mz_strategy_words[];  /* the values of --strategy, then NULL */

#endif
