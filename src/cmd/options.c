/* Options: see options.h. */
#define _GNU_SOURCE
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../report/memory.h"
#include "../report/message.h"
#include "cc_line.h"
#include "cluster.h"
#include "suggest.h"
#include "words.h"

#define COUNT(a)         (sizeof(a) / sizeof *(a))
#define DEFAULT_INTERVAL 60.0 /* seconds between checkpoints */

struct option;
typedef int parser(struct mz_settings *s, const struct option *o, const char *value);

enum takes { NOTHING, MAYBE, VALUE };

struct option {
    const char *name;
    char letter; /* 0: none */
    enum takes takes;
    const char *argument; /* its name in help */
    unsigned commands;    /* set of enum mz_for */
    const char *help;
    parser *parse;
};

/* ---- values ---- */

static int bad_word(const struct option *o, const char *value, const char *const *known, size_t count)
{
    const char *near = mz_suggest(value, known, count);
    struct mz_strbuf all = {0};
    for (size_t i = 0; i < count; i++) mz_strbuf_addf(&all, "%s%s", i ? ", " : "", known[i]);
    if (near)
        mz_fail("--%s=%s: did you mean %s? (possible: %s)", o->name, value, near, mz_strbuf_text(&all));
    else
        mz_fail("--%s=%s: not one of %s", o->name, value, mz_strbuf_text(&all));
    mz_strbuf_release(&all);
    return MZ_STATUS_FAILED;
}

static int bad_number(const struct option *o, const char *value, const char *wanted)
{
    return mz_fail("--%s=%s: %s is wanted", o->name, value, wanted);
}

static int parse_count(const struct option *o, const char *value, uint64_t *to)
{
    char *end;
    errno = 0;
    unsigned long long n = strtoull(value, &end, 10);
    if (!isdigit((unsigned char)value[0]) || *end || errno || n == 0)
        return bad_number(o, value, "a number from 1 on");
    *to = n;
    return 0;
}

static int not_yet(struct mz_settings *s, const struct option *o, const char *value)
{
    (void)s, (void)value;
    return mz_fail("--%s: not supported yet", o->name);
}

/* ---- one parser for each option ---- */

static const struct {
    const char *name;
    enum mz_algorithm algorithm;
} algorithms[] = {{"optimal", MZ_ALG_OPTIMAL},   {"source", MZ_ALG_SOURCE},     {"dpor", MZ_ALG_DPOR},
                  {"sleep", MZ_ALG_NONE},        {"none", MZ_ALG_NONE},         {"sdpor", MZ_ALG_SDPOR},
                  {"s-por", MZ_ALG_S_POR},       {"de-s-por", MZ_ALG_DE_S_POR}, {"dl-s-por", MZ_ALG_DL_S_POR},
                  {"stateful", MZ_ALG_STATEFUL}, {"portfolio", MZ_ALG_S_POR}};

enum mz_algorithm mz_algorithm_named(const char *name)
{
    for (size_t i = 0; name && i < COUNT(algorithms); i++)
        if (!strcmp(name, algorithms[i].name)) return algorithms[i].algorithm;
    return MZ_ALG_NONE;
}

static int parse_algorithm(struct mz_settings *s, const struct option *o, const char *value)
{
    const char *names[COUNT(algorithms)];
    for (size_t i = 0; i < COUNT(algorithms); i++) {
        names[i] = algorithms[i].name;
        if (strcmp(value, names[i]) != 0) continue;
        s->algorithm = algorithms[i].algorithm;
        s->portfolio = !strcmp(value, "portfolio");
        s->algorithm_name = names[i];
        return 0;
    }
    return bad_word(o, value, names, COUNT(names));
}

static int parse_no_sleep_sets(struct mz_settings *s, const struct option *o, const char *value)
{
    (void)o, (void)value;
    s->sleep_sets = false;
    return 0;
}

static int parse_state_match(struct mz_settings *s, const struct option *o, const char *value)
{
    static const char *const names[] = {"hash", "exact"};
    if (strcmp(value, names[0]) != 0 && strcmp(value, names[1]) != 0) return bad_word(o, value, names, 2);
    s->exact_match = !strcmp(value, names[1]);
    s->stateful_option = o->name;
    return 0;
}

static int parse_state_capture(struct mz_settings *s, const struct option *o, const char *value)
{
    static const char *const names[] = {"exact", "delta", "always"}; /* enum mz_capture */
    for (unsigned i = 0; i < COUNT(names); i++) {
        if (strcmp(value, names[i]) != 0) continue;
        s->state_capture = (enum mz_capture)i;
        if (i != MZ_CAPTURE_ALWAYS) s->stateful_option = o->name;
        return 0;
    }
    return bad_word(o, value, names, COUNT(names));
}

static int parse_order(struct mz_settings *s, const struct option *o, const char *value)
{
    static const char *const names[] = {[MZ_ORDER_SEQUENTIAL] = "sequential",
                                        [MZ_ORDER_RANDOM] = "random",
                                        [MZ_ORDER_VISITED_FIRST] = "visited-first",
                                        [MZ_ORDER_LEARNED] = "learned"};
    for (size_t i = 0; i < COUNT(names); i++) {
        if (strcmp(value, names[i]) != 0) continue;
        s->order = (enum mz_order)i;
        s->stateful_option = o->name;
        return 0;
    }
    return bad_word(o, value, names, COUNT(names));
}

static int parse_order_seed(struct mz_settings *s, const struct option *o, const char *value)
{
    s->order = MZ_ORDER_RANDOM;
    s->stateful_option = o->name;
    return parse_count(o, value, &s->order_seed);
}

static int parse_data_races(struct mz_settings *s, const struct option *o, const char *value)
{
    static const char *const names[] = {"error", "allow"};
    if (strcmp(value, names[0]) != 0 && strcmp(value, names[1]) != 0) return bad_word(o, value, names, 2);
    s->allow_races = !strcmp(value, names[1]);
    return 0;
}

static int parse_backtrack(struct mz_settings *s, const struct option *o, const char *value)
{
    static const char *const names[] = {"auto", "undo", "checkpoint", "rerun"}; /* enum mz_backtrack */
    for (unsigned i = 0; i < COUNT(names); i++) {
        if (strcmp(value, names[i]) != 0) continue;
        s->backtrack = (enum mz_backtrack)i;
        return 0;
    }
    return bad_word(o, value, names, COUNT(names));
}

static int parse_spurious_wakeups(struct mz_settings *s, const struct option *o, const char *value)
{
    (void)o, (void)value;
    s->spurious_wakeups = true;
    return 0;
}

static int parse_nondet_range(struct mz_settings *s, const struct option *o, const char *value)
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

static int parse_heap(struct mz_settings *s, const struct option *o, const char *value)
{
    static const char *const names[] = {"fresh", "reuse"};
    if (strcmp(value, names[0]) != 0 && strcmp(value, names[1]) != 0) return bad_word(o, value, names, 2);
    s->heap_reuse = !strcmp(value, names[1]);
    return 0;
}

static int parse_leaks(struct mz_settings *s, const struct option *o, const char *value)
{
    (void)o, (void)value;
    s->leaks = true;
    return 0;
}

static int parse_keep_going(struct mz_settings *s, const struct option *o, const char *value)
{
    (void)o, (void)value;
    s->keep_going = true;
    return 0;
}

static int parse_strict(struct mz_settings *s, const struct option *o, const char *value)
{
    (void)o, (void)value;
    s->strict = true;
    return 0;
}

static int parse_max_steps(struct mz_settings *s, const struct option *o, const char *value)
{
    int status = parse_count(o, value, &s->max_steps);
    if (status == 0 && s->max_steps > MZ_MOST_STEPS) status = bad_number(o, value, "at most 1000000000");
    return status;
}

static int parse_max_executions(struct mz_settings *s, const struct option *o, const char *value)
{
    return parse_count(o, value, &s->max_executions);
}

static int parse_time_limit(struct mz_settings *s, const struct option *o, const char *value)
{
    char *end;
    double seconds = strtod(value, &end);
    if (!isdigit((unsigned char)value[0]) || *end || !(seconds > 0) || seconds > 1e9)
        return bad_number(o, value, "a number of seconds");
    s->time_limit = seconds;
    return 0;
}

static int parse_memory_limit(struct mz_settings *s, const struct option *o, const char *value)
{
    static const struct {
        char unit;
        unsigned shift;
    } units[] = {{'K', 10}, {'M', 20}, {'G', 30}, {'\0', 20}};
    char *end;
    errno = 0;
    unsigned long long n = strtoull(value, &end, 10);
    for (size_t i = 0; i < COUNT(units); i++)
        if (isdigit((unsigned char)value[0]) && !errno && n > 0 && n < 1u << 30 &&
            toupper((unsigned char)*end) == units[i].unit && (!*end || !end[1])) {
            s->memory_limit = (uint64_t)n << units[i].shift;
            return 0;
        }
    return bad_number(o, value, "a number of MiB, or one with K, M or G");
}

static int parse_jobs(struct mz_settings *s, const struct option *o, const char *value)
{
    uint64_t jobs;
    int status = parse_count(o, value, &jobs);
    if (status == 0 && (jobs < 1 || jobs > MZ_MAX_JOBS))
        return mz_fail("--jobs=%s: from 1 to %d", value, MZ_MAX_JOBS);
    if (status == 0) s->jobs = (uint32_t)jobs;
    return status;
}

static int parse_json(struct mz_settings *s, const struct option *o, const char *value)
{
    (void)o;
    if (value && !*value) return mz_fail("--json=: the file's name is missing");
    s->json = true;
    free(s->json_file);
    s->json_file = mz_memory_string(value);
    return 0;
}

static int parse_checkpoint(struct mz_settings *s, const struct option *o, const char *value)
{
    (void)o;
    if (!*value) return mz_fail("--checkpoint=: the file's name is missing");
    free(s->checkpoint);
    s->checkpoint = mz_memory_string(value);
    return 0;
}

static int parse_checkpoint_interval(struct mz_settings *s, const struct option *o, const char *value)
{
    char *end;
    s->checkpoint_interval = strtod(value, &end);
    if (!isdigit((unsigned char)value[0]) || *end || !(s->checkpoint_interval > 0))
        return bad_number(o, value, "a number of seconds");
    return 0;
}

static int parse_record_tree(struct mz_settings *s, const struct option *o, const char *value)
{
    (void)o;
    if (!*value) return mz_fail("--record-tree=: the file's name is missing");
    free(s->record_tree);
    s->record_tree = mz_memory_string(value);
    return 0;
}

static int parse_update(struct mz_settings *s, const struct option *o, const char *value)
{
    static const char *const names[] = {"last", "all"};
    if (strcmp(value, names[0]) != 0 && strcmp(value, names[1]) != 0) return bad_word(o, value, names, 2);
    s->eager = !strcmp(value, names[1]);
    return 0;
}

static int parse_resume(struct mz_settings *s, const struct option *o, const char *value)
{
    (void)o;
    if (!*value) return mz_fail("--resume=: the file's name is missing");
    free(s->resume);
    s->resume = mz_memory_string(value);
    return 0;
}

static int parse_trace(struct mz_settings *s, const struct option *o, const char *value)
{
    (void)o;
    if (!*value) return mz_fail("--trace=: the file's name is missing");
    free(s->trace);
    s->trace = mz_memory_string(value);
    return 0;
}

static int parse_quiet(struct mz_settings *s, const struct option *o, const char *value)
{
    (void)o, (void)value;
    s->quiet = true;
    s->verbose = false;
    return 0;
}

static int parse_trust(struct mz_settings *s, const struct option *o, const char *value)
{
    (void)o, (void)value;
    s->trust = true;
    return 0;
}

static int parse_verbose(struct mz_settings *s, const struct option *o, const char *value)
{
    (void)o, (void)value;
    s->verbose = true;
    s->quiet = false;
    return 0;
}

static int parse_when(const struct option *o, const char *value, enum mz_when *to, bool json)
{
    static const char *const names[] = {"auto", "always", "never", "json"};
    size_t count = json ? COUNT(names) : COUNT(names) - 1;
    for (size_t i = 0; i < count; i++)
        if (!strcmp(value, names[i])) {
            *to = (enum mz_when)i;
            return 0;
        }
    return bad_word(o, value, names, count);
}

static int parse_color(struct mz_settings *s, const struct option *o, const char *value)
{
    return parse_when(o, value, &s->color, false);
}

static int parse_progress(struct mz_settings *s, const struct option *o, const char *value)
{
    return parse_when(o, value, &s->progress, true);
}

static int parse_help(struct mz_settings *s, const struct option *o, const char *value)
{
    (void)o, (void)value;
    s->help = true;
    return 0;
}

static int parse_version(struct mz_settings *s, const struct option *o, const char *value)
{
    (void)o, (void)value;
    s->version = true;
    return 0;
}

#define ALL (MZ_FOR_CHECK | MZ_FOR_REPLAY | MZ_FOR_SHOW)

static const struct option options[] = {
    {"algorithm", 0, VALUE, "A", MZ_FOR_CHECK,
     "How to leave out equivalent interleavings: optimal (default: each class of executions exactly once), "
     "source, dpor, sleep (sleep sets only) or none. The stateful ones (sdpor, s-por, de-s-por, dl-s-por, "
     "stateful) explore no state twice: for programs with many interleavings but few states. portfolio runs "
     "s-por and dl-s-por side by side, the first to finish wins.",
     parse_algorithm},
    {"no-sleep-sets", 0, NOTHING, NULL, MZ_FOR_CHECK, "With dpor and none: do without sleep sets.",
     parse_no_sleep_sets},
    {"update", 0, VALUE, "last|all", MZ_FOR_CHECK,
     "With dpor: which events get a backtracking point for what comes after them: the last that is in "
     "conflict with it (default), or all of them, as the distributed algorithm of 2007 has it.",
     parse_update},
    {"state-match", 0, VALUE, "hash|exact", MZ_FOR_CHECK,
     "With a stateful algorithm: states are equal if their hashes of 128 bits are (default), or are kept and "
     "compared.",
     parse_state_match},
    {"state-capture", 0, VALUE, "exact|delta|always", MZ_FOR_CHECK,
     "With a stateful algorithm: local states of threads are captured as they are (default), or known by "
     "the changes that led to them, as in the paper of 2008, which finds fewer matches. always: exact, with "
     "all algorithms, to measure what it costs.",
     parse_state_capture},
    {"order", 0, VALUE, "sequential|random|visited-first|learned", MZ_FOR_CHECK,
     "With a stateful algorithm: which thread to try first in a state. By their numbers; at random; those "
     "whose step leads to a state that is known (de-s-por and dl-s-por; the steps are tried for that); or "
     "those that alone were enough in states before (default; de-s-por and dl-s-por, else by numbers).",
     parse_order},
    {"order-seed", 0, VALUE, "N", MZ_FOR_CHECK,
     "With a stateful algorithm: --order=random, another one for each N.", parse_order_seed},
    {"data-races", 0, VALUE, "error|allow", MZ_FOR_CHECK,
     "error (default): a data race is a bug, as in C11. allow: plain accesses are sequentially consistent; "
     "those that race, and all to volatile variables, become operations like atomic ones.",
     parse_data_races},
    {"heap", 0, VALUE, "fresh|reuse", MZ_FOR_CHECK,
     "fresh (default): no block of the heap is used twice in an execution, so every use after free is found. "
     "reuse: freed blocks are used again, the last one first, and the order of malloc and free is explored: "
     "for ABA bugs. A use after free of memory that has been handed out again is then not found.",
     parse_heap},
    {"leaks", 0, NOTHING, NULL, MZ_FOR_CHECK,
     "Blocks of the heap that nothing points to when the program ends are an error.", parse_leaks},
    {"spurious-wakeups", 0, NOTHING, NULL, MZ_FOR_CHECK,
     "A wait on a condition variable may also end without a signal, as POSIX allows: for each thread at most "
     "3 "
     "times in a row at the same wait, and 8 times in an execution (stateful algorithms: any number of "
     "times).",
     parse_spurious_wakeups},
    {"backtrack", 0, VALUE, "HOW", MZ_FOR_CHECK,
     "How to come to the next branch: undo (take back what was written since), checkpoint (the same, by "
     "comparing all memory that was ever written), rerun (run the program again from its start), or auto "
     "(default: what turns out to be faster). undo needs to know all that writes to memory: a program that "
     "calls other functions gets checkpoint instead.",
     parse_backtrack},
    {"nondet-range", 0, VALUE, "LO..HI", MZ_FOR_CHECK,
     "The numbers that __VERIFIER_nondet_int() and the like of SV-COMP stand for: all of them are tried.",
     parse_nondet_range},
    {"keep-going", 0, NOTHING, NULL, MZ_FOR_CHECK,
     "Go on after the first error and report each distinct one.", parse_keep_going},
    {"strict", 0, NOTHING, NULL, MZ_FOR_CHECK,
     "Anything that the program does and the search does not see makes the verdict incomplete (status 3) "
     "instead of `verified, except: ...`.",
     parse_strict},
    {"max-steps", 0, VALUE, "N", MZ_FOR_CHECK,
     "At most N visible operations in one execution (default 100000). After a longer one, a stateless "
     "search starts over and follows endless loops for three rounds only; the verdict is at best incomplete.",
     parse_max_steps},
    {"max-executions", 0, VALUE, "N", MZ_FOR_CHECK,
     "Stop after N executions, with --resume those of before included; verdict incomplete.",
     parse_max_executions},
    {"time-limit", 0, VALUE, "S", MZ_FOR_CHECK,
     "Stop after S seconds of searching, of this run if it is one with --resume; verdict incomplete.",
     parse_time_limit},
    {"memory-limit", 0, VALUE, "M", MZ_FOR_CHECK,
     "The search itself (not the program) needs at most M MiB (K, M, G may be appended): when there is no "
     "more, optimal goes on as source, stateful algorithms forget states; where nothing can be given up, "
     "and with --checkpoint, the search stops, verdict incomplete.",
     parse_memory_limit},
    {"jobs", 'j', VALUE, "N", MZ_FOR_CHECK,
     "Explore with N worker processes (default 1). Stateful algorithms explore with one.", parse_jobs},
    {"json", 0, MAYBE, "FILE", MZ_FOR_CHECK | MZ_FOR_REPLAY,
     "Write the result as JSON to FILE, or to standard output in place of the text.", parse_json},
    {"sarif", 0, VALUE, "FILE", MZ_FOR_CHECK, "Not supported yet.", not_yet},
    {"junit", 0, VALUE, "FILE", MZ_FOR_CHECK, "Not supported yet.", not_yet},
    {"html", 0, VALUE, "FILE", MZ_FOR_CHECK | MZ_FOR_SHOW, "Not supported yet.", not_yet},
    {"trace", 0, VALUE, "FILE", MZ_FOR_CHECK,
     "Write the failing schedule to FILE (default: mazurka-NAME-N.trace here); further ones get .2, .3 "
     "appended.",
     parse_trace},
    {"checkpoint", 0, VALUE, "FILE", MZ_FOR_CHECK,
     "Write what is left of the search to FILE: every minute, when it is interrupted, when a limit is "
     "reached, and when it is complete. What is left of another search there, unless it ended with an error, "
     "is kept as FILE.old, or FILE.old.2 and so on; a file that is no checkpoint is not overwritten. Not for "
     "stateful algorithms.",
     parse_checkpoint},
    {"checkpoint-interval", 0, VALUE, "S", MZ_FOR_CHECK, "Seconds between checkpoints (default 60).",
     parse_checkpoint_interval},
    {"resume", 0, VALUE, "FILE", MZ_FOR_CHECK,
     "Go on with the search that FILE was written by: the same program, arguments and options, but for -j "
     "and limits.",
     parse_resume},
    {"record-tree", 0, VALUE, "FILE", MZ_FOR_CHECK,
     "Write the tree of all executions to FILE, for build/mz-simulate. With optimal, source or dpor.",
     parse_record_tree},
    {"trust", 0, NOTHING, NULL, MZ_FOR_REPLAY,
     "Compile as the trace says, with its compiler and all of its flags: that may run programs and write "
     "files.",
     parse_trust},
    {"gdb", 0, NOTHING, NULL, MZ_FOR_REPLAY, "Not supported yet.", not_yet},
    {"quiet", 'q', NOTHING, NULL, ALL, "Print the verdict's line only.", parse_quiet},
    {"verbose", 0, NOTHING, NULL, ALL,
     "Show the program's own output, and every operation of a long schedule.", parse_verbose},
    {"color", 0, VALUE, "WHEN", ALL,
     "Colours: auto (default: on a terminal, unless NO_COLOR is set, or under mpirun), always, never.",
     parse_color},
    {"progress", 0, VALUE, "WHEN", MZ_FOR_CHECK,
     "How the search gets on, on standard error: auto (default: a line on a terminal), always (lines "
     "in a log, too), never, or json: an object on each line, for other programs.",
     parse_progress},
    {"help", 'h', NOTHING, NULL, ALL, "Show this.", parse_help},
    {"version", 0, NOTHING, NULL, ALL, "Show the version.", parse_version},
};

/* ---- reading the command line ---- */

struct reading {
    struct mz_settings *s;
    enum mz_for command;
    bool
        from_environment; /* MAZURKA_OPTIONS is for all commands: what belongs to another one is left alone */
};

static const struct option *find(const char *name, size_t length)
{
    for (size_t i = 0; i < COUNT(options); i++)
        if (strlen(options[i].name) == length && !strncmp(options[i].name, name, length)) return &options[i];
    return NULL;
}

static const char *command_name(enum mz_for command)
{
    return command == MZ_FOR_CHECK ? "check" : command == MZ_FOR_REPLAY ? "replay" : "show";
}

static int unknown(const struct reading *r, const char *word)
{
    const char *names[COUNT(options)], *near;
    size_t count = 0, dashes = strspn(word, "-");
    char *name = mz_memory_stringn(word + dashes, strcspn(word + dashes, "="));
    for (size_t i = 0; i < COUNT(options); i++)
        if (options[i].commands & (unsigned)r->command) names[count++] = options[i].name;
    near = mz_suggest(name, names, count);
    const char *where = r->from_environment ? " in MAZURKA_OPTIONS" : "";
    if (near)
        mz_fail("unknown option %s%s: did you mean --%s?", word, where, near);
    else
        mz_fail("unknown option %s%s: `mazurka help %s` lists all options", word, where,
                command_name(r->command));
    free(name);
    return MZ_STATUS_FAILED;
}

static int apply(const struct reading *r, const struct option *o, const char *word, const char *value)
{
    if (!(o->commands & (unsigned)r->command)) {
        if (r->from_environment) return 0;
        return mz_fail("%s is no option of `mazurka %s`", word, command_name(r->command));
    }
    if (o->takes == NOTHING && value) return mz_fail("--%s takes no argument", o->name);
    if (o->takes == VALUE && !value)
        return mz_fail("--%s: its argument is missing: --%s=%s", o->name, o->name, o->argument);
    return o->parse(r->s, o, value);
}

/* --name, --name=value, --name value. Returns the number of words used, 0 on failure. */
static int long_option(const struct reading *r, char **words, int *status)
{
    const char *name = words[0] + 2, *equals = strchr(name, '=');
    const struct option *o = find(name, equals ? (size_t)(equals - name) : strlen(name));
    int used = 1;
    if (!o) {
        *status = unknown(r, words[0]);
        return used;
    }
    const char *value = equals ? equals + 1 : NULL;
    if (o->takes == VALUE && !value && words[1]) {
        value = words[1];
        used = 2;
    }
    *status = apply(r, o, words[0], value);
    return used;
}

/* -j4, -j 4, -q */
static int short_option(const struct reading *r, char **words, const struct option *o, int *status)
{
    const char *value = words[0][2] ? words[0] + 2 : NULL;
    int used = 1;
    if (o->takes == VALUE && !value && words[1]) {
        value = words[1];
        used = 2;
    }
    *status = apply(r, o, words[0], value);
    return used;
}

static const struct option *by_letter(const struct reading *r, const char *word)
{
    for (size_t i = 0; i < COUNT(options); i++) {
        const struct option *o = &options[i];
        if (!o->letter || word[0] != '-' || word[1] != o->letter) continue;
        if (!(o->commands & (unsigned)r->command)) continue;
        if (word[2] && (o->takes == NOTHING || !isdigit((unsigned char)word[2]))) continue;
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
        for (size_t i = 0; r->command == MZ_FOR_CHECK && i < COUNT(stages); i++)
            if (!strcmp(word, stages[i])) {
                *status = mz_fail(
                    "check: %s makes no sense here: `mazurka check` builds and runs a whole program", word);
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
        const struct option *o;
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

static int check_tree_options(const struct mz_settings *s)
{
    if (s->eager && (s->algorithm != MZ_ALG_DPOR || !s->sleep_sets))
        return mz_fail("--update=all goes with --algorithm=dpor and sleep sets");
    if (!s->record_tree) return 0;
    if (s->algorithm < MZ_ALG_DPOR || s->algorithm > MZ_ALG_OPTIMAL)
        return mz_fail("--record-tree goes with --algorithm=optimal, source or dpor, not with %s",
                       s->algorithm_name);
    if (s->jobs > 1 || s->checkpoint || s->resume || mz_cluster_rank() >= 0)
        return mz_fail(
            "--record-tree is for a search by one worker: not with -j, mpirun, --checkpoint or --resume");
    return 0;
}

int mz_options_parse(struct mz_settings *s, enum mz_for command, char **argv)
{
    const char *environment = getenv("MAZURKA_OPTIONS");
    struct mz_list words = {0};
    *s = (struct mz_settings){.algorithm = MZ_ALG_OPTIMAL,
                              .algorithm_name = "optimal",
                              .sleep_sets = true,
                              .order = MZ_ORDER_LEARNED,
                              .max_steps = 100000,
                              .jobs = 1};
    int status = 0;
    if (environment && !mz_words_split(environment, &words))
        status = mz_fail("MAZURKA_OPTIONS: a quote is not closed");
    if (status == 0) status = read_words(&(struct reading){s, command, true}, mz_list_argv(&words));
    if (status == 0) status = read_words(&(struct reading){s, command, false}, argv + 1);
    if (status == 0 && !s->sleep_sets && s->algorithm != MZ_ALG_DPOR &&
        strcmp(s->algorithm_name, "none") != 0)
        status =
            mz_fail("--no-sleep-sets goes with --algorithm=dpor or none, not with %s", s->algorithm_name);
    if (status == 0 && s->heap_reuse && s->algorithm >= MZ_ALG_STATEFUL)
        status = mz_fail("--heap=reuse goes with a stateless --algorithm, not with %s", s->algorithm_name);
    if (status == 0 && s->stateful_option && s->algorithm < MZ_ALG_STATEFUL)
        status = mz_fail("--%s goes with a stateful --algorithm, not with %s", s->stateful_option,
                         s->algorithm_name);
    if (status == 0) status = check_tree_options(s);
    if (status == 0 && s->checkpoint_interval > 0 && !s->checkpoint && !s->resume)
        status = mz_fail("--checkpoint-interval goes with --checkpoint");
    if (!(s->checkpoint_interval > 0)) s->checkpoint_interval = DEFAULT_INTERVAL;
    mz_list_release(&words);
    return status;
}

void mz_settings_release(struct mz_settings *s)
{
    free(s->json_file);
    free(s->trace);
    free(s->checkpoint);
    free(s->resume);
    free(s->record_tree);
    mz_list_release(&s->words);
    mz_list_release(&s->arguments);
}

bool mz_settings_color(const struct mz_settings *s, int fd)
{
    const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if (s->color != MZ_AUTO) return s->color == MZ_ALWAYS;
    return isatty(fd) && !mz_cluster_is_launched() && !(no_color && no_color[0]) &&
           !(terminal && !strcmp(terminal, "dumb"));
}

/* ---- help ---- */

static void add_synopsis(struct mz_strbuf *out, const struct option *o)
{
    if (o->letter && o->argument) mz_strbuf_addf(out, "-%c %s, ", o->letter, o->argument);
    if (o->letter && !o->argument) mz_strbuf_addf(out, "-%c, ", o->letter);
    mz_strbuf_addf(out, "--%s", o->name);
    if (o->takes == VALUE) mz_strbuf_addf(out, "=%s", o->argument);
    if (o->takes == MAYBE) mz_strbuf_addf(out, "[=%s]", o->argument);
}

/* Text from column `indent` on, wrapped before column 80. */
static void add_wrapped(struct mz_strbuf *out, const char *text, size_t indent)
{
    size_t column = indent;
    while (*text) {
        size_t n = strcspn(text, " ");
        if (column + n + 1 > 79) {
            mz_strbuf_addf(out, "\n%*s", (int)indent, "");
            column = indent;
        }
        mz_strbuf_addf(out, "%s%.*s", column > indent ? " " : "", (int)n, text);
        column += n + (column > indent);
        text += n;
        text += strspn(text, " ");
    }
    mz_strbuf_addc(out, '\n');
}

void mz_options_help(struct mz_strbuf *out, enum mz_for command)
{
    const size_t indent = 28;
    for (size_t i = 0; i < COUNT(options); i++) {
        struct mz_strbuf synopsis = {0};
        if (!(options[i].commands & (unsigned)command) || options[i].parse == not_yet) continue;
        mz_strbuf_add(&synopsis, "  ");
        add_synopsis(&synopsis, &options[i]);
        mz_strbuf_add(out, mz_strbuf_text(&synopsis));
        if (synopsis.length + 1 > indent)
            mz_strbuf_addf(out, "\n%*s", (int)indent, "");
        else
            mz_strbuf_repeat(out, ' ', indent - synopsis.length);
        add_wrapped(out, options[i].help, indent);
        mz_strbuf_release(&synopsis);
    }
}

static void add_escaped(struct mz_strbuf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '-' || *text == '\\') mz_strbuf_addc(out, '\\');
        mz_strbuf_addc(out, *text);
    }
}

void mz_options_man(struct mz_strbuf *out)
{
    for (size_t i = 0; i < COUNT(options); i++) {
        struct mz_strbuf synopsis = {0};
        if (options[i].parse == not_yet) continue;
        add_synopsis(&synopsis, &options[i]);
        mz_strbuf_add(out, ".TP\n.B ");
        add_escaped(out, mz_strbuf_text(&synopsis));
        mz_strbuf_addc(out, '\n');
        if (!(options[i].commands & MZ_FOR_CHECK))
            mz_strbuf_addf(out, "(%s) ", options[i].commands & MZ_FOR_REPLAY ? "replay" : "show");
        add_escaped(out, options[i].help);
        mz_strbuf_addc(out, '\n');
        mz_strbuf_release(&synopsis);
    }
}
