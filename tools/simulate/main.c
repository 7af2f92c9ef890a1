/* mz-simulate: predicts a search by many workers from the recorded tree of a search. The output fits 80
 * columns. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "live.h"
#include "options.h"
#include "record.h"

#define MOST_STACKS ((uint64_t)1 << 28) /* nodes on the stacks of all workers (paper.c) */

/* ---- the table ---- */

struct text {
    char at[32];
};

/* Four digits, without an exponent: 12528, 62.74, 0.01970. */
static struct text four_digits(double v)
{
    struct text t;
    int decimals = 3;
    for (double x = v; decimals > 0 && x >= 10; x /= 10) decimals--;
    for (double x = v; decimals < 5 && x < 1; x *= 10) decimals++;
    snprintf(t.at, sizeof t.at, "%.*f", decimals, v);
    return t;
}

static void head(const struct arguments *a)
{
    printf("%7s %7s %5s %7s %7s ", "workers", "speedup", "eff%", "seconds", "tasks");
    if (a->mode == PAPER)
        printf("%7s %7s", "refused", "twice%");
    else
        printf("%7s %8s %7s", "splits", "updates", "msgs/s");
    printf(" %5s %5s %5s\n", "idle%", "wait%", "bal%");
}

static void row(const struct arguments *a, const struct result *r, FILE *tsv)
{
    uint32_t n = a->p.workers;
    double speed = r->alone / r->time, all = r->time * n;
    double idle = 1 - (r->busy + r->waiting) / all;
    printf("%7u %7.2f %5.1f %7s %7" PRIu64 " ", n, speed, 100 * speed / n, four_digits(r->time / 1e9).at,
           r->tasks);
    if (a->mode == PAPER)
        printf("%7" PRIu64 " %7.1f", r->refused, 100.0 * (double)r->redundant / (double)r->executions);
    else
        printf("%7" PRIu64 " %8" PRIu64 " %7.0f", r->splits, r->updates, (double)r->messages / r->time * 1e9);
    printf(" %5.1f %5.1f %5.1f\n", 100 * idle, 100 * r->waiting / all, 100 * r->balancer / r->time);
    fflush(stdout);
    if (!tsv) return;
    fprintf(tsv,
            "%s\t%s\t%u\t%.4f\t%.6f\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%.5f\t%.5f\t%.5f\n",
            a->name, a->mode == PAPER ? "paper" : "ours", n, speed, r->time / 1e9, r->tasks, r->splits,
            r->updates, r->redundant, idle, r->waiting / all, r->balancer / r->time);
}

static void describe(const struct arguments *a, const struct tree *t)
{
    static const char *const names[] = {"none", "dpor", "source", "optimal"};
    double alone = time_alone(t, &a->p), chain = longest_chain(t, &a->p);
    uint64_t asks = t->ask_start[t->count];
    printf("%s: %s%s, %u executions (%" PRIu64 " blocked)\n", a->name, names[t->algorithm & 3],
           t->eager ? " --update=all" : "", t->count, t->blocked + t->cut);
    printf("%" PRIu64 " transitions, at most %u steps; each asks for %.2f branches\n", t->transitions,
           t->max_depth, (double)asks / t->count);
    printf("one worker: %s s; the longest chain of executions: %s s\n", four_digits(alone / 1e9).at,
           four_digits(chain / 1e9).at);
    printf("speedup at most %s\n", four_digits(alone / chain).at);
}

static FILE *open_tsv(const struct arguments *a)
{
    FILE *f = fopen(a->tsv, "a");
    if (!f) fail(a->tsv, strerror(errno));
    if (ftell(f) == 0)
        fputs("tree\tprotocol\tworkers\tspeedup\tseconds\ttasks\tsplits\tupdates\tredundant\tidle\twaiting\t"
              "balancer\n",
              f);
    return f;
}

static void close_all(const struct arguments *a, FILE *tsv)
{
    if (tsv && (ferror(tsv) | fclose(tsv)) != 0) fail(a->tsv, strerror(errno));
    if (ferror(stdout) | fflush(stdout)) fail("standard output", strerror(errno));
}

static int simulate(struct arguments *a)
{
    struct result r;
    struct tree *t = tree_read(a->file);
    if (!t) return 2;
    if (a->mode == PAPER && t->algorithm == MZ_ALG_OPTIMAL)
        fail(a->file, "is a tree of optimal: the paper's protocol is for backtrack sets (dpor, source)");
    if (a->mode == PAPER && t->most_branches > 64) fail(a->file, "has nodes with more than 64 branches");
    uint32_t most = 0;
    for (uint32_t i = 0; i < a->rows; i++) most = a->counts[i] > most ? a->counts[i] : most;
    if (a->mode == PAPER && ((uint64_t)t->max_depth + 1) * most > MOST_STACKS)
        fail(a->file, "has executions that are too long for so many workers: simulate fewer (--workers)");
    FILE *tsv = a->tsv ? open_tsv(a) : NULL;
    describe(a, t);
    head(a);
    for (uint32_t i = 0; i < a->rows; i++) {
        a->p.workers = a->counts[i];
        if (!(a->mode == PAPER ? simulate_paper : simulate_ours)(t, &a->p, &r))
            fail(a->file, "is damaged: it contradicts itself");
        row(a, &r, tsv);
    }
    close_all(a, tsv);
    tree_free(t);
    return 0;
}

static int simulate_live(struct arguments *a)
{
    struct result r;
    struct measured m;
    struct mz_model model;
    if (!model_read(a->file, &model)) return 2;
    FILE *tsv = a->tsv ? open_tsv(a) : NULL;
    head(a);
    for (uint32_t i = 0; i < a->rows; i++) {
        a->p.workers = a->counts[i];
        if (!live_run(a->file, &model, &a->p, &r, &m)) return 2;
        row(a, &r, tsv);
        printf("        balancer, us: task %.1f, split %.1f, update %.1f, task done %.1f\n", m.task / 1e3,
               m.split / 1e3, m.update / 1e3, m.done / 1e3);
    }
    close_all(a, tsv);
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
                                .poll = 200,
                                .far = 100,
                                .here = 64,
                                .limit = 1}};
    (void)argc;
    read_arguments(&a, argv);
    if (a.mode == RECORD)
        return model_record(a.file, a.record, a.algorithm ? a.algorithm : "optimal") ? 0 : 2;
    return a.mode == LIVE ? simulate_live(&a) : simulate(&a);
}
