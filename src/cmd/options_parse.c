/* Read the command line and MAZURKA_OPTIONS into the settings, and refuse options that do not fit together: see
 * options.h. */
#define _GNU_SOURCE
#include "cmd/option_table.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#include "base/memory.h"
#include "base/message.h"
#include "base/shell_words.h"
#include "base/suggest.h"
#include "build/command_line.h"
#include "dist/cluster.h"
#include "launch/mpirun.h"

#define DEFAULT_INTERVAL 60.0   /* seconds between checkpoints */
#define SAMPLE           10000u /* executions of a sample without a limit */

struct reading {
    struct mz_settings *s;
    enum mz_for command;
    bool from_environment; /* MAZURKA_OPTIONS is for all commands: options of another command are ignored */
};

static const struct mz_option *find_option(const char *name, size_t length)
{
    for (size_t i = 0; i < mz_option_table_size; i++)
        if (strlen(mz_option_table[i].name) == length && !strncmp(mz_option_table[i].name, name, length))
            return &mz_option_table[i];
    return NULL;
}

static const char *command_name(enum mz_for command)
{
    return command == MZ_FOR_CHECK ? "check" : command == MZ_FOR_REPLAY ? "replay" : "show";
}

static int unknown(const struct reading *r, const char *word)
{
    const char **names = mz_memory_new(mz_option_table_size * sizeof *names), *near;
    size_t count = 0, dashes = strspn(word, "-");
    char *name = mz_memory_stringn(word + dashes, strcspn(word + dashes, "="));
    for (size_t i = 0; i < mz_option_table_size; i++)
        if (mz_option_table[i].commands & (unsigned)r->command) names[count++] = mz_option_table[i].name;
    near = mz_suggest(name, names, count);
    const char *where = r->from_environment ? " in MAZURKA_OPTIONS" : "";
    if (near)
        mz_fail("unknown option %s%s: did you mean --%s?", word, where, near);
    else
        mz_fail("unknown option %s%s: `mazurka help %s` lists all options", word, where,
                command_name(r->command));
    free(names);
    free(name);
    return MZ_STATUS_FAILED;
}

static int apply(const struct reading *r, const struct mz_option *o, const char *word, const char *value)
{
    if (!(o->commands & (unsigned)r->command)) {
        if (r->from_environment) return 0;
        return mz_fail("%s is no option of `mazurka %s`", word, command_name(r->command));
    }
    if (o->takes == MZ_TAKES_NOTHING && value) return mz_fail("--%s takes no argument", o->name);
    if (o->takes == MZ_TAKES_VALUE && !value)
        return mz_fail("--%s: its argument is missing: --%s=%s", o->name, o->name, o->argument);
    int status = o->store(r->s, o, value);
    if (status == 0 && o->is_stateful) r->s->stateful_option = o->name;
    return status;
}

/* --name, --name=value, --name value. Returns the number of words used, 0 on failure. */
static int long_option(const struct reading *r, char **words, int *status)
{
    const char *name = words[0] + 2, *equals = strchr(name, '=');
    const struct mz_option *o = find_option(name, equals ? (size_t)(equals - name) : strlen(name));
    int used = 1;
    if (!o) {
        *status = unknown(r, words[0]);
        return used;
    }
    const char *value = equals ? equals + 1 : NULL;
    if (o->takes == MZ_TAKES_VALUE && !value && words[1]) {
        value = words[1];
        used = 2;
    }
    *status = apply(r, o, words[0], value);
    return used;
}

/* -j4, -j 4, -q */
static int short_option(const struct reading *r, char **words, const struct mz_option *o, int *status)
{
    const char *value = words[0][2] ? words[0] + 2 : NULL;
    int used = 1;
    if (o->takes == MZ_TAKES_VALUE && !value && words[1]) {
        value = words[1];
        used = 2;
    }
    *status = apply(r, o, words[0], value);
    return used;
}

static const struct mz_option *by_letter(const struct reading *r, const char *word)
{
    for (size_t i = 0; i < mz_option_table_size; i++) {
        const struct mz_option *o = &mz_option_table[i];
        if (!o->letter || word[0] != '-' || word[1] != o->letter) continue;
        if (!(o->commands & (unsigned)r->command)) continue;
        if (word[2] && (o->takes == MZ_TAKES_NOTHING || !isdigit((unsigned char)word[2]))) continue;
        return o;
    }
    return NULL;
}

static int other_word(const struct reading *r, char **words, int *status)
{
    const char *word = words[0];
    bool flag = word[0] == '-' && word[1];
    if (flag && (r->command != MZ_FOR_CHECK || !mz_cc_plausible_flag(word))) {
        static const char *const stages[] = {"-c", "-S", "-E", "-o", "-M", "-MM", "-shared", "-static", "-r"};
        for (size_t i = 0; r->command == MZ_FOR_CHECK && i < sizeof stages / sizeof *stages; i++)
            if (!strcmp(word, stages[i])) {
                *status = mz_fail(
                    "check: %s cannot be used here: `mazurka check` builds and runs a whole program", word);
                return 1;
            }
        *status = unknown(r, word);
        return 1;
    }
    if (!flag && r->from_environment) {
        *status = mz_fail("MAZURKA_OPTIONS holds `%s`, which is not an option", word);
        return 1;
    }
    mz_list_add(&r->s->words, word);
    if (!flag || !mz_cc_takes_value(word) || !words[1]) return 1;
    mz_list_add(&r->s->words, words[1]);
    return 2;
}

static int read_words(const struct reading *r, char **words)
{
    int status = 0;
    while (*words && status == 0) {
        const struct mz_option *o;
        if (!strcmp(*words, "--")) {
            if (r->from_environment) return mz_fail("MAZURKA_OPTIONS holds `--`, which is not an option");
            while (*++words) mz_list_add(&r->s->arguments, *words);
            break;
        }
        if (!strncmp(*words, "--", 2) && !(r->command == MZ_FOR_CHECK && mz_cc_plausible_flag(*words)))
            words += long_option(r, words, &status);
        else if ((o = by_letter(r, *words)))
            words += short_option(r, words, o, &status);
        else
            words += other_word(r, words, &status);
    }
    return status;
}

const char *mz_settings_recorded(const struct mz_settings *s)
{
    return s->classes ? "classes" : s->record_tree ? "record-tree" : s->count_sets ? "count-sets" : NULL;
}

static int check_tree_options(const struct mz_settings *s)
{
    if (s->eager && (s->algorithm != MZ_ALG_DPOR || !s->sleep_sets))
        return mz_fail("--update=all goes with --algorithm=dpor and sleep sets");
    const char *name = mz_settings_recorded(s);
    if (!name) return 0;
    if (s->record_tree && s->classes) return mz_fail("--record-tree and --classes exclude each other");
    if (s->count_sets && (s->record_tree || s->classes))
        return mz_fail("--count-sets and --%s exclude each other", name);
    if (s->count_sets && mz_algorithm_is_stateful(s->algorithm))
        return mz_fail("--count-sets goes with stateless algorithms, not with %s", s->algorithm_name);
    if (s->record_tree && (s->algorithm < MZ_ALG_DPOR || s->algorithm > MZ_ALG_OPTIMAL))
        return mz_fail("--record-tree goes with --algorithm=optimal, source or dpor, not with %s",
                       s->algorithm_name);
    /* The relation of classic has more conflicts, so its classes are smaller. */
    if (s->classes && (s->algorithm == MZ_ALG_CLASSIC || mz_algorithm_is_stateful(s->algorithm)))
        return mz_fail("--classes goes with --algorithm=optimal, source, dpor, sleep or none, not with %s",
                       s->algorithm_name);
    if (s->jobs > 1 || s->checkpoint || s->resume || mz_cluster_rank() >= 0)
        return mz_fail("--%s is for a search by one worker: not with -j, mpirun, --checkpoint or --resume",
                       name);
    return 0;
}

static bool asks_for_sleep_sets(const struct mz_settings *s)
{
    return s->sleep_option && s->sleep_option[0] == 's';
}

/* Does the search use sleep sets? Follow the user where the algorithm leaves a choice. */
static void choose_sleep_sets(struct mz_settings *s)
{
    enum mz_sleep sleep = mz_algorithm_sleep(s->algorithm);
    bool always = sleep == MZ_SLEEP_ALWAYS || !strcmp(s->algorithm_name, "sleep");
    bool asked = s->sleep_option ? asks_for_sleep_sets(s) : sleep == MZ_SLEEP_ON;
    s->sleep_sets = sleep != MZ_SLEEP_NEVER && (always || asked);
}

bool mz_settings_persistent(const struct mz_settings *s)
{
    return s->persistent || s->algorithm == MZ_ALG_STATIC || s->algorithm == MZ_ALG_STATIC_STATEFUL;
}

/* --stateful: another algorithm. --persistent: only where the paper of 2005 combines it. */
static int apply_variants(struct mz_settings *s)
{
    if (s->stateful && s->algorithm == MZ_ALG_NONE) {
        s->algorithm = MZ_ALG_STATEFUL;
        s->algorithm_name = "stateful";
    } else if (s->stateful && s->algorithm == MZ_ALG_STATIC) {
        s->algorithm = MZ_ALG_STATIC_STATEFUL;
        s->algorithm_name = "static-stateful";
    } else if (s->stateful && !mz_algorithm_is_stateful(s->algorithm)) {
        return mz_fail("--stateful goes with --algorithm=none or static; the stateful form of dpor is "
                       "--algorithm=sdpor");
    }
    bool combines = s->algorithm == MZ_ALG_DPOR || s->algorithm == MZ_ALG_CLASSIC;
    if ((s->persistent || s->marks) && (!combines || s->sleep_sets))
        return mz_fail("%s goes with --algorithm=dpor --no-sleep-sets and --algorithm=classic",
                       s->marks ? "--marks" : "--persistent=static");
    if ((mz_settings_persistent(s) || s->marks) && !mz_algorithm_is_stateful(s->algorithm) &&
        (s->jobs > 1 || s->checkpoint || s->resume || mz_cluster_rank() >= 0))
        return mz_fail("%s is for a search by one worker: not with -j, mpirun, --checkpoint or --resume",
                       s->marks        ? "--marks"
                       : s->persistent ? "--persistent=static"
                                       : "--algorithm=static");
    return 0;
}

/* A seed that is short enough to be typed. */
static uint64_t new_seed(void)
{
    uint32_t seed;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != sizeof seed) seed = (uint32_t)getpid();
    return seed;
}

/* An option that is for reductions only, and was given; NULL: none was. */
static const char *option_of_reductions(const struct mz_settings *s)
{
    return s->algorithm_given ? "algorithm"
           : s->stateful      ? "stateful"
           : s->persistent    ? "persistent"
           : s->marks         ? "marks"
           : s->eager         ? "update"
           : s->sleep_option  ? s->sleep_option
                              : mz_settings_recorded(s);
}

static int choose_sample(struct mz_settings *s)
{
    const char *other = s->order_given ? "order" : option_of_reductions(s);
    if (s->bound != MZ_BOUND_NONE)
        return mz_fail("--preemptions and --delays go with --strategy=exhaustive, not with %s",
                       s->strategy_name);
    if (other)
        return mz_fail("--%s goes with --strategy=exhaustive: --strategy=%s draws executions at random",
                       other, s->strategy_name);
    if (!s->seed_given) s->seed = new_seed();
    if (!s->max_executions && !(s->time_limit > 0)) s->max_executions = SAMPLE;
    return 0;
}

static int choose_bound(const struct mz_settings *s)
{
    const char *name = s->bound == MZ_BOUND_DELAYS ? "delays" : "preemptions",
               *other = option_of_reductions(s);
    if (other) return mz_fail("--%s does not go with --%s, which has a search of its own", other, name);
    if (s->bound_auto && (s->checkpoint || s->resume || mz_cluster_rank() >= 0))
        return mz_fail(
            "--%s=auto is several searches: not with mpirun, --checkpoint or --resume; give a number", name);
    return 0;
}

/* A sampling strategy and a bound take the place of the algorithm. */
static int choose_strategy(struct mz_settings *s)
{
    bool samples = s->strategy != MZ_STRATEGY_EXHAUSTIVE;
    if (s->seed_given && !samples) return mz_fail("--seed goes with a sampling --strategy, such as random");
    if (!samples && s->bound == MZ_BOUND_NONE) return 0;
    int status = samples ? choose_sample(s) : choose_bound(s);
    s->algorithm = MZ_ALG_NONE;
    s->algorithm_name = "none";
    return status;
}

static int choose_order(struct mz_settings *s)
{
    bool stateful = mz_algorithm_is_stateful(s->algorithm);
    if (!s->order_given) s->order = stateful ? MZ_ORDER_LEARNED : MZ_ORDER_LAST_THREAD;
    if (stateful ? mz_order_is_stateful(s->order) : mz_order_is_stateless(s->order)) return 0;
    return mz_fail("--order=%s goes with a state%s --algorithm, not with %s", s->order_given,
                   stateful ? "less" : "ful", s->algorithm_name);
}

/* Do the given options fit together? */
static int check_combination(const struct mz_settings *s)
{
    if (s->sleep_option && s->sleep_sets != asks_for_sleep_sets(s))
        return mz_fail("--%s does not go with --algorithm=%s, which %s sleep sets", s->sleep_option,
                       s->algorithm_name, s->sleep_sets ? "needs" : "has no");
    if (s->heap_reuse && mz_algorithm_is_stateful(s->algorithm))
        return mz_fail("--heap=reuse goes with a stateless --algorithm, not with %s", s->algorithm_name);
    if (s->stateful_option && !mz_algorithm_is_stateful(s->algorithm))
        return mz_fail("--%s goes with a stateful --algorithm, not with %s", s->stateful_option,
                       s->algorithm_name);
    int status = check_tree_options(s);
    if (status == 0 && s->checkpoint_interval > 0 && !s->checkpoint && !s->resume)
        status = mz_fail("--checkpoint-interval goes with --checkpoint");
    return status;
}

int mz_options_parse(struct mz_settings *s, enum mz_for command, char **argv)
{
    const char *environment = getenv("MAZURKA_OPTIONS");
    struct mz_list words = {0};
    *s = (struct mz_settings){.algorithm = MZ_ALG_OPTIMAL,
                              .algorithm_name = "optimal",
                              .companions = true,
                              .max_steps = 100000,
                              .jobs = 1};
    int status = 0;
    if (environment && !mz_words_split(environment, &words))
        status = mz_fail("MAZURKA_OPTIONS: a quote is not closed");
    if (status == 0) status = read_words(&(struct reading){s, command, true}, mz_list_argv(&words));
    if (status == 0) status = read_words(&(struct reading){s, command, false}, argv + 1);
    if (status == 0) status = choose_strategy(s);
    if (status == 0) choose_sleep_sets(s);
    if (status == 0) status = apply_variants(s);
    if (status == 0) status = choose_order(s);
    if (status == 0) status = check_combination(s);
    if (!(s->checkpoint_interval > 0)) s->checkpoint_interval = DEFAULT_INTERVAL;
    mz_list_release(&words);
    return status;
}

void mz_settings_release(struct mz_settings *s)
{
    for (int i = 0; mz_writers[i]; i++) free(s->output_files[i]);
    free(s->trace);
    free(s->checkpoint);
    free(s->resume);
    free(s->record_tree);
    free(s->classes);
    mz_list_release(&s->words);
    mz_list_release(&s->arguments);
}

bool mz_settings_color(const struct mz_settings *s, int fd)
{
    const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if (s->color != MZ_AUTO) return s->color == MZ_ALWAYS;
    return isatty(fd) && !mz_mpirun_is_parent() && !(no_color && no_color[0]) &&
           !(terminal && !strcmp(terminal, "dumb"));
}
