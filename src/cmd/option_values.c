/* Storing the values of options in the settings: see option_table.h. */
#define _GNU_SOURCE
#include "cmd/option_table.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "base/message.h"
#include "base/suggest.h"
#include "report/writer.h"

static void *field_of(struct mz_settings *s, const struct mz_option *o) { return (char *)s + o->field; }

/* ---- what is wrong with a value ---- */

static int bad_word(const struct mz_option *o, const char *value)
{
    size_t count = 0;
    struct mz_strbuf all = {0};
    for (; o->words[count]; count++) mz_strbuf_addf(&all, "%s%s", count ? ", " : "", o->words[count]);
    const char *near = mz_suggest(value, o->words, count);
    if (near)
        mz_fail("--%s=%s: did you mean %s? (possible: %s)", o->name, value, near, mz_strbuf_text(&all));
    else
        mz_fail("--%s=%s: not one of %s", o->name, value, mz_strbuf_text(&all));
    mz_strbuf_release(&all);
    return MZ_STATUS_FAILED;
}

static int bad_number(const struct mz_option *o, const char *value, const char *wanted)
{
    return mz_fail("--%s=%s: %s is wanted", o->name, value, wanted);
}

/* ---- for any option ---- */

int mz_option_flag(struct mz_settings *s, const struct mz_option *o, const char *value)
{
    (void)value;
    *(bool *)field_of(s, o) = true;
    return 0;
}

static int word_number(const struct mz_option *o, const char *value) /* -1: none of them */
{
    for (int i = 0; o->words[i]; i++)
        if (!strcmp(value, o->words[i])) return i;
    return -1;
}

int mz_option_either(struct mz_settings *s, const struct mz_option *o, const char *value)
{
    int number = word_number(o, value);
    if (number < 0) return bad_word(o, value);
    *(bool *)field_of(s, o) = number == 1;
    return 0;
}

int mz_option_word(struct mz_settings *s, const struct mz_option *o, const char *value)
{
    int number = word_number(o, value);
    if (number < 0) return bad_word(o, value);
    _Static_assert(sizeof(enum mz_order) == sizeof number && sizeof(enum mz_when) == sizeof number,
                   "enums are stored as int");
    memcpy(field_of(s, o), &number, sizeof number);
    return 0;
}

static int read_count(const struct mz_option *o, const char *value, uint64_t *to)
{
    char *end;
    errno = 0;
    unsigned long long n = strtoull(value, &end, 10);
    if (!isdigit((unsigned char)value[0]) || *end || errno || n == 0)
        return bad_number(o, value, "a number from 1 on");
    *to = n;
    return 0;
}

int mz_option_count(struct mz_settings *s, const struct mz_option *o, const char *value)
{
    return read_count(o, value, field_of(s, o));
}

static int read_file_name(const struct mz_option *o, const char *value, char **to)
{
    if (!*value) return mz_fail("--%s=: the file's name is missing", o->name);
    free(*to);
    *to = mz_memory_string(value);
    return 0;
}

int mz_option_file(struct mz_settings *s, const struct mz_option *o, const char *value)
{
    return read_file_name(o, value, field_of(s, o));
}

int mz_option_output(struct mz_settings *s, const struct mz_option *o, const char *value)
{
    int format = mz_writer_index(o->name);
    if (value) {
        if (s->on_stdout == format) s->on_stdout = 0;
        return read_file_name(o, value, &s->output_files[format]);
    }
    free(s->output_files[format]);
    s->output_files[format] = NULL;
    s->on_stdout = format;
    return 0;
}

int mz_option_not_yet(struct mz_settings *s, const struct mz_option *o, const char *value)
{
    (void)s, (void)value;
    return mz_fail("--%s: not supported yet", o->name);
}

/* ---- for one option each ---- */

/* The algorithms of event/algorithm.def, then two names for algorithms in a special way. */
const char *const mz_algorithm_words[] = {
#define ALGORITHM(constant, name, reduction, keeps, sleep, proves) name,
#include "event/algorithm.def"
#undef ALGORITHM
    "sleep", "portfolio", NULL};
static const enum mz_algorithm algorithms[] = {
#define ALGORITHM(constant, name, reduction, keeps, sleep, proves) MZ_ALG_##constant,
#include "event/algorithm.def"
#undef ALGORITHM
    MZ_ALG_NONE, MZ_ALG_S_POR};
_Static_assert(sizeof mz_algorithm_words / sizeof *mz_algorithm_words ==
                   sizeof algorithms / sizeof *algorithms + 1,
               "an algorithm for each word");

enum mz_algorithm mz_algorithm_named(const char *name)
{
    for (size_t i = 0; name && mz_algorithm_words[i]; i++)
        if (!strcmp(name, mz_algorithm_words[i])) return algorithms[i];
    return MZ_ALG_NONE;
}

int mz_option_algorithm(struct mz_settings *s, const struct mz_option *o, const char *value)
{
    int number = word_number(o, value);
    if (number < 0) return bad_word(o, value);
    s->algorithm = algorithms[number];
    s->algorithm_name = s->algorithm_given = o->words[number];
    s->portfolio = !strcmp(value, "portfolio");
    return 0;
}

const char *const mz_strategy_words[] = {
#define STRATEGY(constant, name, sampler, repeats) name,
#include "event/strategy.def"
#undef STRATEGY
    "auto", NULL};

/* pct:D */
static int pct_of_depth(struct mz_settings *s, const struct mz_option *o, const char *value)
{
    char *end;
    unsigned long depth = strtoul(value + strlen("pct:"), &end, 10);
    if (!isdigit((unsigned char)value[4]) || *end || depth < 1 || depth > MZ_PCT_MOST_DEPTH)
        return mz_fail("--%s=%s: the depth must be a number from 1 to %d, as in pct:3", o->name, value,
                       MZ_PCT_MOST_DEPTH);
    s->companions = false;
    s->strategy = MZ_STRATEGY_PCT;
    s->strategy_depth = (unsigned)depth;
    return 0;
}

int mz_option_strategy(struct mz_settings *s, const struct mz_option *o, const char *value)
{
    s->strategy_name = value;
    if (!strncmp(value, "pct:", 4)) return pct_of_depth(s, o, value);
    int number = word_number(o, value);
    if (number < 0) return bad_word(o, value);
    s->companions = number == MZ_STRATEGY_COUNT; /* auto */
    s->strategy = s->companions ? MZ_STRATEGY_EXHAUSTIVE : (enum mz_strategy_kind)number;
    s->strategy_depth = s->strategy == MZ_STRATEGY_PCT ? MZ_PCT_DEPTH : 0;
    if (s->strategy == MZ_STRATEGY_PCT) s->strategy_name = "pct:3";
    return 0;
}

int mz_option_seed(struct mz_settings *s, const struct mz_option *o, const char *value)
{
    char *end;
    errno = 0;
    unsigned long long seed = strtoull(value, &end, 10);
    if (!isdigit((unsigned char)value[0]) || *end || errno) return bad_number(o, value, "a number");
    s->seed_given = true;
    s->seed = seed;
    return 0;
}

int mz_option_bound(struct mz_settings *s, const struct mz_option *o, const char *value)
{
    enum mz_bound bound = !strcmp(o->name, "delays") ? MZ_BOUND_DELAYS : MZ_BOUND_PREEMPTIONS;
    char *end;
    if (s->bound != MZ_BOUND_NONE && s->bound != bound)
        return mz_fail("--preemptions and --delays exclude each other");
    s->bound = bound;
    s->bound_auto = !strcmp(value, "auto");
    s->bound_limit = 0;
    if (s->bound_auto) return 0;
    errno = 0;
    unsigned long limit = strtoul(value, &end, 10);
    if (!isdigit((unsigned char)value[0]) || *end || errno || limit > MZ_MOST_BOUND)
        return mz_fail("--%s=%s: give a number from 0 to %u, or auto", o->name, value, MZ_MOST_BOUND);
    s->bound_limit = (uint32_t)limit;
    return 0;
}

int mz_option_sleep_sets(struct mz_settings *s, const struct mz_option *o, const char *value)
{
    (void)value;
    s->sleep_option = o->name;
    return 0;
}

/* `always` makes sense with every algorithm. */
int mz_option_state_capture(struct mz_settings *s, const struct mz_option *o, const char *value)
{
    int status = mz_option_word(s, o, value);
    if (status == 0 && s->state_capture != MZ_CAPTURE_ALWAYS) s->stateful_option = o->name;
    return status;
}

int mz_option_order(struct mz_settings *s, const struct mz_option *o, const char *value)
{
    s->order_given = value;
    return mz_option_word(s, o, value);
}

int mz_option_order_seed(struct mz_settings *s, const struct mz_option *o, const char *value)
{
    s->order_given = "random";
    s->order = MZ_ORDER_RANDOM;
    return read_count(o, value, &s->order_seed);
}

int mz_option_nondet_range(struct mz_settings *s, const struct mz_option *o, const char *value)
{
    char *dots, *end;
    errno = 0;
    long long low = strtoll(value, &dots, 10);
    bool good = dots != value && !strncmp(dots, "..", 2) && dots[2];
    long long high = good ? strtoll(dots + 2, &end, 10) : 0;
    if (!good || *end || errno || low > high) return bad_number(o, value, "a range of numbers such as 0..3");
    s->nondet_given = true;
    s->nondet_low = low;
    s->nondet_high = high;
    return 0;
}

int mz_option_max_steps(struct mz_settings *s, const struct mz_option *o, const char *value)
{
    int status = read_count(o, value, &s->max_steps);
    if (status == 0 && s->max_steps > MZ_MOST_STEPS) status = bad_number(o, value, "at most 1000000000");
    return status;
}

static int read_seconds(const struct mz_option *o, const char *value, double most, double *to)
{
    char *end;
    double seconds = strtod(value, &end);
    if (!isdigit((unsigned char)value[0]) || *end || !(seconds > 0) || seconds > most)
        return bad_number(o, value, "a number of seconds");
    *to = seconds;
    return 0;
}

int mz_option_time_limit(struct mz_settings *s, const struct mz_option *o, const char *value)
{
    return read_seconds(o, value, 1e9, &s->time_limit);
}

int mz_option_checkpoint_interval(struct mz_settings *s, const struct mz_option *o, const char *value)
{
    return read_seconds(o, value, 1e300, &s->checkpoint_interval);
}

int mz_option_memory_limit(struct mz_settings *s, const struct mz_option *o, const char *value)
{
    static const struct {
        char unit;
        unsigned shift;
    } units[] = {{'K', 10}, {'M', 20}, {'G', 30}, {'\0', 20}};
    char *end;
    errno = 0;
    unsigned long long n = strtoull(value, &end, 10);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (isdigit((unsigned char)value[0]) && !errno && n > 0 && n < 1u << 30 &&
            toupper((unsigned char)*end) == units[i].unit && (!*end || !end[1])) {
            s->memory_limit = (uint64_t)n << units[i].shift;
            return 0;
        }
    return bad_number(o, value, "a number of MiB, or one with K, M or G");
}

int mz_option_jobs(struct mz_settings *s, const struct mz_option *o, const char *value)
{
    uint64_t jobs = 0;
    int status = read_count(o, value, &jobs);
    if (status == 0 && jobs > MZ_MAX_JOBS) return mz_fail("--jobs=%s: from 1 to %d", value, MZ_MAX_JOBS);
    if (status == 0) s->jobs = (uint32_t)jobs;
    return status;
}

int mz_option_quiet(struct mz_settings *s, const struct mz_option *o, const char *value)
{
    (void)o, (void)value;
    s->quiet = true;
    s->verbose = false;
    return 0;
}

int mz_option_verbose(struct mz_settings *s, const struct mz_option *o, const char *value)
{
    (void)o, (void)value;
    s->verbose = true;
    s->quiet = false;
    return 0;
}
