/* mz-random: compares the engine with the oracle, on random models, on one model, or on a directory of
 * models.
 *
 * A model file may state expectations in comments: "# classes: 3", and likewise interleavings, outcomes,
 * deadlocks, assertions (the number of different ones). "# shared: N": the model is explored N times as a
 * shared search, each time shared in another way. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "model/text.h"
#include "run.h"

static const char usage[] =
    "usage: mz-random [options]                  random models against the oracle\n"
    "       mz-random [options] --file FILE      one model\n"
    "       mz-random [options] --corpus DIR     every *.model in DIR, with the numbers that it expects\n"
    "\n"
    "  --seed S            first seed (1); program i is that of seed S + i\n"
    "  --count N           programs (10000; 0: no limit)\n"
    "  --seconds T         stop after so long\n"
    "  --jobs N            processes (1)\n"
    "  --algorithms LIST   of none, sleep, dpor-plain, dpor, dpor-eager, source, optimal, literal; stateful, "
    "stateful-exact, "
    "s-por,\n"
    "                      de-s-por, dl-s-por, sdpor, and some with -random, -visited, -learned: the order "
    "(all)\n"
    "  --thread-order O    last-thread, names, round-robin, descending, sequential, random, or drawn: each "
    "program has "
    "another one\n"
    "                      (default; with --file and --corpus: last-thread). For stateless algorithms\n"
    "  --print             only print the programs\n"
    "  --no-shrink         do not make failing programs smaller\n"
    "  --differences N     stop after so many (1)\n"
    "  --no-order          do not compare happens-before relations\n"
    "  --threads N, --operations N, --themes N    size of random programs (4, 5, 3)\n"
    "  --long              executions of more than 64 events, by threads that run after the others\n"
    "  --with THEME        a theme of every random program: sections, futexes, ... (generate.c)\n"
    "  --prefixes N        larger programs, by the oracle's measure, are made smaller\n"
    "  --states N          programs with loops and more states are made smaller\n"
    "  --interleavings N   programs with more are not explored without reduction\n"
    "  --swaps N           programs with more are not checked by swaps\n"
    "  --literal N         the paper's algorithm may look at so many sequences; larger programs are left "
    "out\n"
    "\n"
    "Exit status: 0 all agree, 1 a difference, 2 wrong usage.\n";

enum {
    SEED = 256,
    COUNT,
    SECONDS,
    JOBS,
    ALGORITHMS,
    FILE_,
    CORPUS,
    PRINT,
    SHRINK,
    NO_SHRINK,
    DIFFERENCES,
    NO_ORDER,
    THREADS,
    OPERATIONS,
    THEMES,
    LONG,
    WITH,
    PREFIXES,
    STATES,
    INTERLEAVINGS,
    SWAPS,
    LITERAL,
    THREAD_ORDER,
    HELP
};

static const struct option options[] = {
    {"seed", 1, 0, SEED},
    {"count", 1, 0, COUNT},
    {"seconds", 1, 0, SECONDS},
    {"jobs", 1, 0, JOBS},
    {"algorithms", 1, 0, ALGORITHMS},
    {"file", 1, 0, FILE_},
    {"corpus", 1, 0, CORPUS},
    {"print", 0, 0, PRINT},
    {"shrink", 0, 0, SHRINK},
    {"no-shrink", 0, 0, NO_SHRINK},
    {"differences", 1, 0, DIFFERENCES},
    {"no-order", 0, 0, NO_ORDER},
    {"threads", 1, 0, THREADS},
    {"operations", 1, 0, OPERATIONS},
    {"themes", 1, 0, THEMES},
    {"long", 0, 0, LONG},
    {"with", 1, 0, WITH},
    {"prefixes", 1, 0, PREFIXES},
    {"states", 1, 0, STATES},
    {"interleavings", 1, 0, INTERLEAVINGS},
    {"swaps", 1, 0, SWAPS},
    {"literal", 1, 0, LITERAL},
    {"thread-order", 1, 0, THREAD_ORDER},
    {"help", 0, 0, HELP},
    {0, 0, 0, 0},
};

struct arguments {
    struct mz_run run;
    const char *file, *corpus;
    bool print;
};

static _Noreturn void fail(const char *what, const char *why)
{
    fprintf(stderr, "mz-random: %s: %s\n", what, why);
    exit(2);
}

static uint64_t number(const char *text, uint64_t low, uint64_t high)
{
    char *end;
    errno = 0;
    uint64_t n = strtoull(text, &end, 0);
    if (end == text || *end || errno || n < low || n > high) fail(text, "not a number in the range");
    return n;
}

/* All stateless configurations except literal, which is slow and has its own runs. */
#define STATELESS ((mz_config_bit(MZ_CONFIG_STATEFUL) - 1) & ~mz_config_bit(MZ_CONFIG_LITERAL))
#define ALL       (mz_config_bit(MZ_CONFIGS) - 1)

static mz_configs algorithms(char *list)
{
    mz_configs set = 0;
    char *rest = NULL;
    for (char *name = strtok_r(list, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
        int i = 0;
        if (strcmp(name, "all-stateless") == 0 || strcmp(name, "all-stateful") == 0) {
            set |= strcmp(name, "all-stateless") == 0 ? STATELESS
                                                      : ALL & ~(mz_config_bit(MZ_CONFIG_STATEFUL) - 1);
            continue;
        }
        while (i < MZ_CONFIGS && strcmp(name, mz_config_name((enum mz_config)i)) != 0) i++;
        if (i == MZ_CONFIGS) fail(name, "no such algorithm");
        set |= mz_config_bit(i);
    }
    return set;
}

#define DRAWN   (-1)
#define DEFAULT (-2)

static int thread_order(const char *name)
{
    static const char *const names[] = {"last-thread", "names",      "round-robin",
                                        "descending",  "sequential", "random"};
    if (strcmp(name, "drawn") == 0) return DRAWN;
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
        if (strcmp(name, names[i]) == 0) return i;
    fail(name, "no such order");
}

static void take_option(struct arguments *a, int option, char *value)
{
    struct mz_run *r = &a->run;
    switch (option) {
    case SEED:
        r->seed = number(value, 0, UINT64_MAX);
        break;
    case COUNT:
        r->count = number(value, 0, UINT64_MAX);
        break;
    case SECONDS:
        r->seconds = strtod(value, NULL);
        break;
    case JOBS:
        r->jobs = (int)number(value, 1, 64);
        break;
    case ALGORITHMS:
        r->limits.configs = algorithms(value);
        break;
    case FILE_:
        a->file = value;
        break;
    case CORPUS:
        a->corpus = value;
        break;
    case PRINT:
        a->print = true;
        break;
    case SHRINK:
        r->shrink = true;
        break;
    case NO_SHRINK:
        r->shrink = false;
        break;
    case DIFFERENCES:
        r->max_differences = (unsigned)number(value, 1, 1000000);
        break;
    case NO_ORDER:
        r->limits.order = false;
        break;
    case THREADS:
        r->knobs.max_threads = (int)number(value, 2, 7);
        break;
    case OPERATIONS:
        r->knobs.max_operations = (int)number(value, 1, 12);
        break;
    case THEMES:
        r->knobs.themes = (int)number(value, 1, 7);
        break;
    case LONG:
        r->knobs.tail = true;
        break;
    case WITH:
        if (mz_theme(value) < 0) fail(value, "no such theme");
        r->knobs.always |= 1u << mz_theme(value);
        break;
    case PREFIXES:
        r->limits.prefixes = (uint32_t)number(value, 1, 1u << 28);
        break;
    case STATES:
        r->limits.states = (uint32_t)number(value, 1, 1u << 28);
        break;
    case INTERLEAVINGS:
        r->limits.interleavings = number(value, 0, 1u << 28);
        break;
    case SWAPS:
        r->limits.swaps = number(value, 0, 4096);
        break;
    case LITERAL:
        r->limits.literal = number(value, 1, UINT64_MAX);
        break;
    case THREAD_ORDER:
        r->limits.thread_order = thread_order(value);
        break;
    case HELP:
        fputs(usage, stdout);
        exit(0);
    default:
        fputs(usage, stderr);
        exit(2);
    }
}

/* Model files. */

struct expectation {
    const char *key;
    uint64_t found;
};

static char *read_file(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = fopen(path, "r");
    if (!f) fail(path, strerror(errno));
    if (getdelim(&text, &size, '\0', f) < 0) fail(path, "empty");
    fclose(f);
    return text;
}

/* "# key: number" in the text, at the start of a line. */
static bool expected(const char *text, const char *key, uint64_t *value)
{
    char pattern[64];
    int length = snprintf(pattern, sizeof pattern, "# %s: ", key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, pattern, (size_t)length) != 0) continue;
        *value = strtoull(line + length, NULL, 10);
        return true;
    }
    return false;
}

static uint64_t count_failures(const struct mz_findings *f)
{
    uint64_t count = 0;
    for (int t = 0; t < MZ_MODEL_THREADS; t++) count += (uint64_t)__builtin_popcount(f->failures[t]);
    return count;
}

static bool as_expected(const char *path, const char *text, const struct mz_checker *c, bool needs_classes)
{
    const struct mz_findings *f = mz_check_ends(c);
    const struct expectation all[] = {
        {c->loops ? "states" : "classes", c->loops ? c->all.states.count : f->classes.count},
        {"interleavings", c->oracle.interleavings},
        {"outcomes", f->outcomes.count},
        {"deadlocks", f->deadlocks.count},
        {"assertions", count_failures(f)},
        {"states", c->all.states.count},
        {"locals", c->all.locals.count},
        {"endless", c->all.traps.count},
        {"classic-sleep", c->counts[MZ_CONFIG_CLASSIC_SLEEP].executions},
        {"sdpor-naive", c->counts[MZ_CONFIG_SDPOR_NAIVE].outcomes},
    };
    bool same = true;
    uint64_t value;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (!expected(text, all[i].key, &value)) {
            if (i == 0 && needs_classes)
                same = false, printf("%s: does not say \"# %s: N\"\n", path, all[0].key);
            continue;
        }
        if (value == all[i].found) continue;
        same = false;
        printf("%s: %" PRIu64 " %s, %" PRIu64 " expected\n", path, all[i].found, all[i].key, value);
    }
    return same;
}

static void print_numbers(const char *path, const struct mz_checker *c)
{
    const struct mz_findings *f = mz_check_ends(c);
    printf("%s: %u states, %u classes, %" PRIu64 " interleavings, %u outcomes, %u deadlocks, %" PRIu64
           " assertions fail;",
           path, c->all.states.count, c->loops ? 0 : f->classes.count, c->oracle.interleavings,
           f->outcomes.count, f->deadlocks.count, count_failures(f));
    for (int i = 0; i < MZ_CONFIGS; i++) {
        if (!c->counts[i].programs) continue;
        printf(" %s %" PRIu64, mz_config_name((enum mz_config)i), c->counts[i].executions);
        if (c->counts[i].blocked) printf("+%" PRIu64, c->counts[i].blocked);
        if (c->counts[i].states)
            printf(" (%" PRIu64 " states, %" PRIu64 " transitions, %" PRIu64 " revisited)",
                   c->counts[i].states, c->counts[i].transitions, c->counts[i].revisited);
    }
    printf("\n");
}

/* Returns whether the model is as expected and no algorithm differs. */
static bool check_file(const struct arguments *a, const char *path, bool needs_classes)
{
    char error[256];
    struct mz_model m;
    struct mz_checker c = {0};
    char *text = read_file(path);
    if (mz_model_parse(text, &m, error, sizeof error)) fail(path, error);
    enum mz_answer answer = mz_run_one(&a->run, &m, &c);
    uint64_t times = 1; /* "# shared: N": explore N times, each time with another random sharing */
    expected(text, "shared", &times);
    for (struct mz_run run = a->run; answer == MZ_SAME && times > 1; times--) {
        run.seed++;
        mz_checker_free(&c);
        c = (struct mz_checker){0};
        answer = mz_run_one(&run, &m, &c);
    }
    bool same = answer == MZ_SAME;
    if (same) {
        print_numbers(path, &c);
        same = as_expected(path, text, &c, needs_classes);
    } else {
        printf("%s: %s\n", path, answer == MZ_TOO_LARGE ? "too large for the limits" : "DIFFERENCE");
    }
    mz_checker_free(&c);
    free(text);
    return same;
}

static int is_model(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && strcmp(dot, ".model") == 0;
}

static bool check_corpus(const struct arguments *a)
{
    struct dirent **entries;
    int count = scandir(a->corpus, &entries, is_model, alphasort), passed = 0;
    if (count < 0) fail(a->corpus, strerror(errno));
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", a->corpus, entries[i]->d_name);
        passed += check_file(a, path, true);
        free(entries[i]);
    }
    free(entries);
    printf("%d of %d models as expected\n", passed, count);
    return passed == count && count > 0;
}

static void print_programs(const struct arguments *a)
{
    static char text[MZ_MODEL_TEXT];
    struct mz_checker c = {.limits = a->run.limits};
    struct mz_model m;
    bool smaller;
    for (uint64_t i = 0; i < a->run.count; i++) {
        mz_run_draw(&c, &a->run.knobs, a->run.seed + i, &m, &smaller);
        mz_model_print(&m, text, sizeof text);
        printf("# seed: %" PRIu64 "\n# classes: %u\n%s\n", a->run.seed + i, c.oracle.found.classes.count,
               text);
    }
    mz_checker_free(&c);
}

int main(int argc, char **argv)
{
    struct arguments a = {
        .run = {.seed = 1,
                .count = 10000,
                .jobs = 1,
                .max_differences = 1,
                .shrink = true,
                .knobs = {.max_threads = 4, .max_operations = 5, .themes = 3},
                .limits = {.prefixes = 2000,
                           .interleavings = 200,
                           .swaps = 24,
                           .states = 1000,
                           .literal = 5000,
                           .configs = ALL,
                           .thread_order = DEFAULT,
                           .order = true}},
    };
    bool counted = false, limited = false;
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        counted |= option == COUNT;
        limited |= option == PREFIXES || option == STATES || option == INTERLEAVINGS || option == SWAPS ||
                   option == LITERAL;
        take_option(&a, option, optarg);
    }
    if (optind < argc) fail(argv[optind], "not an option");
    if (a.run.seconds > 0 && !counted) a.run.count = 0;
    if (a.run.limits.thread_order == DEFAULT)
        a.run.limits.thread_order = a.file || a.corpus ? (int)MZ_ORDER_LAST_THREAD : DRAWN;
    if ((a.file || a.corpus) && !limited) {
        a.run.limits.prefixes = 1u << 22;
        a.run.limits.interleavings = 20000;
        a.run.limits.swaps = 1000;
        a.run.limits.states = 1u << 22;
        a.run.limits.literal = 100000;
    }
    if (a.file) return check_file(&a, a.file, false) ? 0 : 1;
    if (a.corpus) return check_corpus(&a) ? 0 : 1;
    if (a.print) print_programs(&a);
    return !a.print && mz_run_random(&a.run) ? 1 : 0;
}
