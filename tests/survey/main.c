/* mz-survey: compares the estimates of a survey (engine/tours.c) with the oracle of tests/random.
 *
 *   mz-survey [--seed S] [--count N] [--tours T]     random models: the mean is the number of classes
 *   mz-survey [--tours T] --corpus DIR               the same for *.model in DIR
 *
 * For each model the mean over T tours is divided by the number of classes. The ratios have the mean 1, if the estimate
 * is not biased: checked for each model (6 standard errors), and for all together (4 standard errors). The seeds are
 * fixed, so a test passes always or never. Exit status: 0 no difference, 1 a difference, 2 wrong usage. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../random/run.h"
#include "engine/program.h"
#include "model/system.h"
#include "model/text.h"

struct survey {
    struct mz_model_explorer *explorer;
    struct mz_exploration *x;
    uint64_t tours;
    struct mz_tour_sums sums;
};

struct totals {
    double ratios, variance;
    uint64_t models, differences, classes;
    long double error; /* the sum of the relative standard errors */
};

static _Noreturn void fail(const char *what, const char *why)
{
    fprintf(stderr, "mz-survey: %s: %s\n", what, why);
    exit(2);
}

/* The values of T tours. */
static struct mz_tour_sums take(struct survey *s, const struct mz_model *m)
{
    struct mz_model_run run = {0};
    struct mz_model_report report = {0};
    s->x = mz_model_begin(s->explorer, m);
    while (mz_explore_tours(s->x).tours < s->tours)
        if (!mz_model_next(s->explorer, &run, &report)) fail("a survey", "it ended");
    struct mz_tour_sums sums = mz_explore_tours(s->x);
    mz_model_end(s->explorer, &report);
    return sums;
}

static void compare(struct survey *s, const struct mz_model *m, uint64_t classes, const char *name,
                    struct totals *all)
{
    struct mz_tour_sums sums = take(s, m);
    long double n = sums.tours, mean = sums.sum / n, variance = (sums.squares / n - mean * mean) / n;
    double ratio = (double)(mean / classes),
           error = variance > 0 ? sqrt((double)variance) / (double)classes : 0;
    all->models++;
    all->classes += classes;
    all->ratios += ratio;
    all->variance += error * error;
    all->error += error;
    if (fabs(ratio - 1) <= 6 * error + 1e-9) return;
    all->differences++;
    printf("DIFFERENCE: %s: %" PRIu64 " classes, the survey says %.6g +- %.2g\n", name, classes,
           ratio * (double)classes, error * (double)classes);
}

/* The number of classes by the oracle; 0: not known. */
static uint64_t classes_of(struct mz_checker *c, const struct mz_model *m)
{
    if (mz_model_loops(m) || mz_check_oracle(c, m) != MZ_SAME) return 0;
    return c->oracle.found.classes.count;
}

static void random_models(struct survey *s, uint64_t seed, uint64_t count, struct totals *all)
{
    const struct mz_knobs knobs = {.max_threads = 4, .max_operations = 5, .themes = 3};
    struct mz_checker c = {.limits = {.prefixes = 2000, .states = 1000}};
    for (uint64_t i = seed; i < seed + count; i++) {
        struct mz_model m;
        char name[32];
        bool smaller;
        if (mz_run_draw(&c, &knobs, i, &m, &smaller) != MZ_SAME || c.loops) continue;
        snprintf(name, sizeof name, "seed %" PRIu64, i);
        compare(s, &m, c.oracle.found.classes.count, name, all);
    }
    mz_checker_free(&c);
}

static void read_model(const char *path, struct mz_model *m)
{
    char *text = NULL, error[256];
    size_t size = 0;
    FILE *f = fopen(path, "r");
    if (!f || getdelim(&text, &size, '\0', f) < 0) fail(path, strerror(errno));
    fclose(f);
    if (mz_model_parse(text, m, error, sizeof error)) fail(path, error);
    free(text);
}

static int is_model(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && strcmp(dot, ".model") == 0;
}

static void corpus(struct survey *s, const char *directory, struct totals *all)
{
    struct mz_checker c = {.limits = {.prefixes = 1u << 20, .states = 1u << 20}};
    struct dirent **entries;
    int count = scandir(directory, &entries, is_model, alphasort);
    if (count < 0) fail(directory, strerror(errno));
    for (int i = 0; i < count; i++) {
        struct mz_model m;
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", directory, entries[i]->d_name);
        read_model(path, &m);
        uint64_t classes = classes_of(&c, &m);
        if (classes) compare(s, &m, classes, entries[i]->d_name, all);
        free(entries[i]);
    }
    free(entries);
    mz_checker_free(&c);
}

static uint64_t number(const char *text)
{
    char *end;
    uint64_t n = strtoull(text, &end, 10);
    if (end == text || *end || !n) fail(text, "not a number of at least 1");
    return n;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"seed", 1, 0, 's'}, {"count", 1, 0, 'n'}, {"tours", 1, 0, 't'}, {"corpus", 1, 0, 'c'}, {0, 0, 0, 0}};
    uint64_t seed = 1, count = 1000;
    const char *directory = NULL;
    struct survey s = {.tours = 1000};
    struct totals all = {0};
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (o == 's') seed = number(optarg);
        if (o == 'n') count = number(optarg);
        if (o == 't') s.tours = number(optarg);
        if (o == 'c') directory = optarg;
        if (o == '?') return 2;
    }
    s.explorer = mz_model_explorer_new(&(struct mz_model_settings){.algorithm = MZ_ALG_NONE, .survey = seed});
    if (directory)
        corpus(&s, directory, &all);
    else
        random_models(&s, seed, count, &all);
    mz_model_explorer_free(s.explorer);
    if (!all.models) fail("no models", "nothing was compared");
    double n = (double)all.models, ratio = all.ratios / n, error = sqrt(all.variance) / n;
    printf("%" PRIu64 " models, %" PRIu64
           " classes; estimate / classes: mean %.5f +- %.5f, one model +- %.3f\n",
           all.models, all.classes, ratio, error, (double)all.error / n);
    if (fabs(ratio - 1) > 4 * error) {
        printf("DIFFERENCE: the estimates are biased\n");
        all.differences++;
        all.models++;
    }
    printf("%" PRIu64 " passed, %" PRIu64 " failed\n", all.models - all.differences, all.differences);
    return all.differences ? 1 : 0;
}
