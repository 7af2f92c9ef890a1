/* mz-simulate: what a search by many workers would be like, computed from the tree of a recorded one. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulate.h"
#include "live.h"
#include "record.h"

static const char usage[] =
    "usage: mz-simulate [options] TREE           a tree of mazurka check --record-tree=TREE\n"
    "       mz-simulate --live [options] MODEL   the balancer itself, on a model, in simulated time\n"
    "       mz-simulate --record=TREE [--algorithm=A] MODEL\n"
    "\n"
    "  --protocol=P        ours (default), or paper: that of 2007, for trees of dpor and source\n"
    "  --workers=N,...     (2,4,...,64; ours: up to 4096)\n"
    "\n"
    "Times, as 20ms, 5us, 300ns:\n"
    "  --execution=T       of an execution (0), and more for each new step:\n"
    "  --step=T            (1us), and for each step that is repeated:\n"
    "  --replay=T          (0: what was done is taken back, not run again)\n"
    "  --latency=T         of a message, one way (5us)\n"
    "  --start=T           until a worker can have its first task (5ms)\n"
    "  --task=T, --split=T, --update=T, --done=T\n"
    "                      of the balancer, for each message (1us, 3us, 300ns, 1us); paper: task is for a\n"
    "                      request, done for a report\n"
    "  --round=T, --poll=T ours: of the balancer, each time it looks; and for each worker (5us, 500ns)\n"
    "  --alone=T           ours: after so long there are two workers, then twice as many each time (2ms)\n"
    "  --least=T           ours: a worker gives others something at most so often (400us)\n"
    "  --quiet=T           ours: a worker tells the balancer of updates at most so often (800us)\n"
    "\n"
    "  --limit=N           paper: backtrack points that a worker keeps for itself (1)\n"
    "  --single            ours: one leaf at a time, no batches\n"
    "  --again             ours: questions are asked again while their answer is on its way\n"
    "  --few=N             ours: for each worker with nothing to do, N others are asked to give (0: all)\n"
    "  --wait              ours: workers wait for the answers to updates\n"
    "  --ahead=N           ours: branches that the balancer wants to have waiting (0)\n"
    "  --tsv=FILE          add the table to FILE, as tab-separated values\n"
    "  --name=NAME         of the tree, in the table\n"
    "  --algorithm=A       for --record: optimal (default), source, dpor, dpor-all\n";

enum {
    PROTOCOL = 256,
    WORKERS,
    TIMES, /* and those that follow, in the order of `times` */
    LIMIT = TIMES + 14,
    AHEAD,
    SINGLE,
    WAIT,
    AGAIN,
    FEW,
    TSV,
    NAME,
    LIVE,
    RECORD,
    ALGORITHM,
    HELP
};

static const struct {
    const char *name;
    size_t at;
} times[] = {
    {"execution", offsetof(struct parameters, execution)}, {"step", offsetof(struct parameters, step)},
    {"replay", offsetof(struct parameters, replay)},       {"latency", offsetof(struct parameters, latency)},
    {"start", offsetof(struct parameters, start)},         {"alone", offsetof(struct parameters, alone)},
    {"least", offsetof(struct parameters, least)},         {"poll", offsetof(struct parameters, poll)},
    {"task", offsetof(struct parameters, task)},           {"split", offsetof(struct parameters, split)},
    {"update", offsetof(struct parameters, update)},       {"done", offsetof(struct parameters, done)},
    {"quiet", offsetof(struct parameters, quiet)},         {"round", offsetof(struct parameters, round)}};
_Static_assert(sizeof times / sizeof *times == LIMIT - TIMES, "an option for each of the times");

static const struct option options[] = {
    {"protocol", 1, 0, PROTOCOL},
    {"workers", 1, 0, WORKERS},
    {"execution", 1, 0, TIMES},
    {"step", 1, 0, TIMES + 1},
    {"replay", 1, 0, TIMES + 2},
    {"latency", 1, 0, TIMES + 3},
    {"start", 1, 0, TIMES + 4},
    {"alone", 1, 0, TIMES + 5},
    {"least", 1, 0, TIMES + 6},
    {"poll", 1, 0, TIMES + 7},
    {"task", 1, 0, TIMES + 8},
    {"split", 1, 0, TIMES + 9},
    {"update", 1, 0, TIMES + 10},
    {"done", 1, 0, TIMES + 11},
    {"limit", 1, 0, LIMIT},
    {"ahead", 1, 0, AHEAD},
    {"single", 0, 0, SINGLE},
    {"wait", 0, 0, WAIT},
    {"again", 0, 0, AGAIN},
    {"few", 1, 0, FEW},
    {"quiet", 1, 0, TIMES + 12},
    {"round", 1, 0, TIMES + 13},
    {"tsv", 1, 0, TSV},
    {"name", 1, 0, NAME},
    {"record", 1, 0, RECORD},
    {"live", 0, 0, LIVE},
    {"algorithm", 1, 0, ALGORITHM},
    {"help", 0, 0, HELP},
    {0, 0, 0, 0},
};

struct arguments {
    struct parameters p;
    bool paper, live;
    const char *workers, *tsv, *name, *record, *algorithm, *file;
};

static _Noreturn void fail(const char *what, const char *why)
{
    fprintf(stderr, "mz-simulate: %s: %s\n", what, why);
    exit(2);
}

static double duration(const char *text)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    char *end;
    double value = strtod(text, &end);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (end != text && strcmp(end, units[i].name) == 0 && value >= 0 && value < 1e9)
            return value * units[i].ns;
    if (end != text && !*end && value >= 0 && value <= 0) return 0;
    fail(text, "not a time such as 20ms, 5us or 300ns");
}

static uint32_t number(const char *text, uint32_t low, uint32_t high, const char **rest)
{
    char *end;
    errno = 0;
    unsigned long n = strtoul(text, &end, 10);
    if (!isdigit((unsigned char)*text) || errno || n < low || n > high || (*end && !(rest && *end == ',')))
        fail(text, "not a number in the range");
    if (rest) *rest = *end ? end + 1 : NULL;
    return (uint32_t)n;
}

static void take_option(struct arguments *a, int option, const char *value)
{
    if (option >= TIMES && option < LIMIT) {
        double ns = duration(value);
        memcpy((char *)&a->p + times[option - TIMES].at, &ns, sizeof ns);
        return;
    }
    switch (option) {
    case PROTOCOL:
        if (strcmp(value, "ours") != 0 && strcmp(value, "paper") != 0) fail(value, "not one of ours, paper");
        a->paper = strcmp(value, "paper") == 0;
        break;
    case WORKERS:
        a->workers = value;
        break;
    case LIMIT:
        a->p.limit = number(value, 0, 1000000, NULL);
        break;
    case AHEAD:
        a->p.ahead = number(value, 0, 1000000, NULL);
        break;
    case SINGLE:
        a->p.single = true;
        break;
    case AGAIN:
        a->p.again = true;
        break;
    case FEW:
        a->p.few = number(value, 0, MAX_WORKERS, NULL);
        break;
    case WAIT:
        a->p.waits = true;
        break;
    case TSV:
        a->tsv = value;
        break;
    case NAME:
        a->name = value;
        break;
    case LIVE:
        a->live = true;
        break;
    case RECORD:
        a->record = value;
        break;
    case ALGORITHM:
        a->algorithm = value;
        break;
    case HELP:
        fputs(usage, stdout);
        exit(0);
    default:
        fputs(usage, stderr);
        exit(2);
    }
}

/* ---- the table ---- */

static void head(const struct arguments *a)
{
    printf("%7s %9s %6s %9s %9s %9s %9s %9s %6s %6s %6s\n", "workers", "speed-up", "eff.", "seconds", "tasks",
           a->paper ? "refused" : "splits", a->paper ? "" : "updates", a->paper ? "redundant" : "msgs/s",
           "idle", "waits", "balan.");
}

static void row(const struct arguments *a, const struct result *r, FILE *tsv)
{
    uint32_t n = a->p.workers;
    double speed = r->alone / r->time, all = r->time * n;
    double idle = 1 - (r->busy + r->waiting) / all;
    char last[32];
    if (a->paper)
        snprintf(last, sizeof last, "%.1f%%", 100.0 * (double)r->redundant / (double)r->executions);
    else
        snprintf(last, sizeof last, "%.0f", (double)r->messages / r->time * 1e9);
    printf("%7u %9.2f %5.1f%% %9.3g %9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %9s %5.1f%% %5.1f%% %5.1f%%\n", n,
           speed, 100 * speed / n, r->time / 1e9, r->tasks, a->paper ? r->refused : r->splits, r->updates,
           last, 100 * idle, 100 * r->waiting / all, 100 * r->balancer / r->time);
    if (!tsv) return;
    fprintf(tsv,
            "%s\t%s\t%u\t%.4f\t%.6f\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%.5f\t%.5f\t%.5f\n",
            a->name, a->paper ? "paper" : "ours", n, speed, r->time / 1e9, r->tasks, r->splits, r->updates,
            r->redundant, idle, r->waiting / all, r->balancer / r->time);
}

static void describe(const struct arguments *a, const struct tree *t)
{
    static const char *const names[] = {"none", "dpor", "source", "optimal"};
    double alone = time_alone(t, &a->p), chain = longest_chain(t, &a->p);
    uint64_t asks = t->ask_start[t->count];
    printf("%s: %s%s, %u executions (%" PRIu64 " blocked), %" PRIu64 " transitions, at most %u steps, %.2f "
           "branches asked for by each\n",
           a->name, names[t->algorithm & 3], t->eager ? " --update=all" : "", t->count, t->blocked + t->cut,
           t->transitions, t->max_depth, (double)asks / t->count);
    printf("one worker %.6g s; the longest chain of executions, each asked for by the one before, %.3g s: "
           "speed-up at most %.0f\n",
           alone / 1e9, chain / 1e9, alone / chain);
}

static FILE *open_tsv(const struct arguments *a)
{
    FILE *f = fopen(a->tsv, "a");
    if (!f) fail(a->tsv, strerror(errno));
    if (ftell(f) == 0)
        fputs("tree\tprotocol\tworkers\tspeedup\tseconds\ttasks\tsplits\tupdates\tredundant\tidle\twaiting\tb"
              "alancer"
              "\n",
              f);
    return f;
}

static int simulate(struct arguments *a)
{
    struct result r;
    struct tree *t = tree_read(a->file);
    if (!t) return 2;
    if (a->paper && t->algorithm == MZ_ALG_OPTIMAL)
        fail(a->file, "is a tree of optimal: the paper's protocol is for backtrack sets (dpor, source)");
    if (a->paper && t->most_branches > 64) fail(a->file, "has nodes with more than 64 branches");
    describe(a, t);
    head(a);
    FILE *tsv = a->tsv ? open_tsv(a) : NULL;
    for (const char *rest = a->workers; rest;) {
        a->p.workers = number(rest, 1, MAX_WORKERS, &rest);
        (a->paper ? simulate_paper : simulate_ours)(t, &a->p, &r);
        row(a, &r, tsv);
        fflush(stdout);
    }
    if (tsv && fclose(tsv) != 0) fail(a->tsv, strerror(errno));
    tree_free(t);
    return 0;
}

static int simulate_live(struct arguments *a)
{
    struct result r;
    struct measured m;
    head(a);
    FILE *tsv = a->tsv ? open_tsv(a) : NULL;
    for (const char *rest = a->workers; rest;) {
        a->p.workers = number(rest, 1, LIVE_WORKERS, &rest);
        if (!live_run(a->file, &a->p, &r, &m)) return 2;
        row(a, &r, tsv);
        printf(
            "        the balancer took %.1f us for a task, %.1f for a split, %.1f for an update, %.1f for a "
            "task that is done\n",
            m.task / 1e3, m.split / 1e3, m.update / 1e3, m.done / 1e3);
    }
    if (tsv && fclose(tsv) != 0) fail(a->tsv, strerror(errno));
    return 0;
}

int main(int argc, char **argv)
{
    /* The balancer's times are those of --live; those of the command, its constants. */
    struct arguments a = {.p = {.step = 1e3,
                                .latency = 5e3,
                                .start = 5e6,
                                .task = 1e3,
                                .split = 3e3,
                                .update = 300,
                                .done = 1e3,
                                .alone = 2e6,
                                .least = 4e5,
                                .quiet = 8e5,
                                .round = 5e3,
                                .poll = 500,
                                .limit = 1}};
    int option;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) take_option(&a, option, optarg);
    if (optind + 1 != argc) {
        fputs(usage, stderr);
        return 2;
    }
    a.file = argv[optind];
    if (!a.name) a.name = a.file;
    if (!a.workers)
        a.workers = a.paper || a.live ? "2,4,8,16,32,64" : "2,4,8,16,32,64,128,256,512,1024,2048,4096";
    if (a.record) return model_record(a.file, a.record, a.algorithm ? a.algorithm : "optimal") ? 0 : 2;
    return a.live ? simulate_live(&a) : simulate(&a);
}
