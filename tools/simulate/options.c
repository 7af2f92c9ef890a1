/* The options of mz-simulate: see options.h. A table says for each option what value it takes, and in which modes it is allowed. */
#include "options.h"
#include "base/bug.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "live.h"

static const char usage[] =
    "usage: mz-simulate [options] TREE      of mazurka check --record-tree=TREE\n"
    "       mz-simulate --live [options] MODEL\n"
    "                     the balancer itself, on a model, in simulated time\n"
    "       mz-simulate --record=TREE [--algorithm=A] MODEL\n"
    "\n"
    "  --protocol=P   ours (default), or paper: that of 2007, for trees of dpor and\n"
    "                 source\n"
    "  --workers=N,.. (2,4,...,64; ours: to 4096)\n"
    "  --tsv=FILE     add the table to FILE, as tab-separated values\n"
    "  --name=NAME    of the tree, in the table\n"
    "  --algorithm=A  with --record: optimal (default), source, dpor, dpor-all\n"
    "\n"
    "Times, as 20ms, 5us, 300ns:\n"
    "  --execution=T  of an execution (0), and more for each new step:\n"
    "  --step=T       (1us), and for each step that is repeated:\n"
    "  --replay=T     (0: what was done is taken back, not run again); not --live\n"
    "  --latency=T    of a message, one way (5us)\n"
    "  --start=T      until a worker can have its first task (5ms)\n"
    "  --task=T, --done=T, --split=T, --update=T\n"
    "                 of the balancer, for each message (1us, 1us, 3us, 300ns);\n"
    "                 paper: task is for a request, done for a report, no others\n"
    "\n"
    "Ours, also with --live:\n"
    "  --round=T      of the balancer, each time it looks (5us)\n"
    "  --here=N       so many workers are on its host (64)\n"
    "  --poll=T       and then for each of them (200ns)\n"
    "  --far=T        and for each other one (100ns)\n"
    "  --alone=T      so long one is alone here, then twice as many each time (2ms)\n"
    "  --least=T      a worker gives others something at most so often (400us)\n"
    "  --quiet=T      a worker tells the balancer of updates at most so often (800us)\n"
    "\n"
    "Ours, on a tree:\n"
    "  --single       one leaf at a time, no batches\n"
    "  --untold       tasks do not tell what is known behind the way to them\n"
    "  --again        questions are asked again while the answer is on its way\n"
    "  --few=N        so many are asked to give, for each that has nothing (0: all)\n"
    "  --wait         workers wait for the answers to updates\n"
    "  --ahead=N      branches that the balancer wants to have waiting (0)\n"
    "\n"
    "Paper:\n"
    "  --limit=N      backtrack points that a worker keeps for itself (1)\n";

#define SEE "; see mz-simulate --help"

enum kind { TIME, NUMBER, FLAG, TEXT };

static const struct known {
    const char *name;
    enum kind kind;
    unsigned modes;
    size_t at;
    uint32_t most;
} known[] = {
#define AT(field) offsetof(struct arguments, field)
    {"execution", TIME, OURS | PAPER | LIVE, AT(p.execution), 0},
    {"step", TIME, OURS | PAPER | LIVE, AT(p.step), 0},
    {"replay", TIME, OURS | PAPER, AT(p.replay), 0},
    {"latency", TIME, OURS | PAPER | LIVE, AT(p.latency), 0},
    {"start", TIME, OURS | PAPER | LIVE, AT(p.start), 0},
    {"task", TIME, OURS | PAPER | LIVE, AT(p.task), 0},
    {"done", TIME, OURS | PAPER | LIVE, AT(p.done), 0},
    {"split", TIME, OURS | LIVE, AT(p.split), 0},
    {"update", TIME, OURS | LIVE, AT(p.update), 0},
    {"round", TIME, OURS | LIVE, AT(p.round), 0},
    {"here", NUMBER, OURS | LIVE, AT(p.here), MAX_WORKERS},
    {"poll", TIME, OURS | LIVE, AT(p.poll), 0},
    {"far", TIME, OURS | LIVE, AT(p.far), 0},
    {"alone", TIME, OURS | LIVE, AT(p.alone), 0},
    {"least", TIME, OURS | LIVE, AT(p.least), 0},
    {"quiet", TIME, OURS | LIVE, AT(p.quiet), 0},
    {"single", FLAG, OURS, AT(p.single), 0},
    {"again", FLAG, OURS, AT(p.again), 0},
    {"untold", FLAG, OURS, AT(p.untold), 0},
    {"few", NUMBER, OURS, AT(p.few), MAX_WORKERS},
    {"wait", FLAG, OURS, AT(p.waits), 0},
    {"ahead", NUMBER, OURS, AT(p.ahead), 1000000},
    {"limit", NUMBER, PAPER, AT(p.limit), 1000000},
    {"protocol", TEXT, OURS | PAPER, AT(protocol), 0},
    {"workers", TEXT, OURS | PAPER | LIVE, AT(workers), 0},
    {"tsv", TEXT, OURS | PAPER | LIVE, AT(tsv), 0},
    {"name", TEXT, OURS | PAPER | LIVE, AT(name), 0},
    {"algorithm", TEXT, RECORD, AT(algorithm), 0},
    {"record", TEXT, RECORD, AT(record), 0},
    {"live", FLAG, LIVE, AT(live), 0},
    {"help", FLAG, OURS | PAPER | LIVE | RECORD, AT(help), 0},
#undef AT
};
#define KNOWN (sizeof known / sizeof *known)

_Noreturn void mz_bug(const char *file, int line, const char *what)
{
    fprintf(stderr, "mz-simulate: bug: %s:%d: %s\n", file, line, what);
    abort();
}

_Noreturn void fail(const char *what, const char *why)
{
    fprintf(stderr, "mz-simulate: %s: %s\n", what, why);
    exit(2);
}

static _Noreturn void fail_option(const char *name, const char *value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static _Noreturn void fail_option(const char *name, const char *value, const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "mz-simulate: --%s%s%s: ", name, value ? "=" : "", value ? value : "");
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(2);
}

/* ---- values ---- */

static double duration(const char *name, const char *text)
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
    fail_option(name, text, "not a time such as 20ms, 5us or 300ns");
}

static uint32_t number(const char *name, const char *all, const char *text, uint32_t least, uint32_t most,
                       const char **rest)
{
    char *end;
    errno = 0;
    unsigned long n = strtoul(text, &end, 10);
    if (!isdigit((unsigned char)*text) || errno || n < least || n > most || (*end && !(rest && *end == ',')))
        fail_option(name, all, "%s%.*s%snot a number from %u to %u", rest ? "\"" : "",
                    rest ? (int)strcspn(text, ",") : 0, text, rest ? "\" is " : "", least, most);
    if (rest) *rest = *end ? end + 1 : NULL;
    return (uint32_t)n;
}

static void list_workers(struct arguments *a)
{
    const char *several = a->mode == OURS ? "2,4,8,16,32,64,128,256,512,1024,2048,4096" : "2,4,8,16,32,64";
    const char *all = a->workers ? a->workers : several;
    for (const char *rest = all; rest;) {
        if (a->rows == MOST_ROWS) fail_option("workers", all, "more than %d", MOST_ROWS);
        a->counts[a->rows++] =
            number("workers", all, rest, 1, a->mode == LIVE ? LIVE_WORKERS : MAX_WORKERS, &rest);
    }
}

/* ---- what belongs together ---- */

static const char *name_of(unsigned mode)
{
    return mode & OURS    ? "--protocol=ours"
           : mode & PAPER ? "--protocol=paper"
           : mode & LIVE  ? "--live"
                          : "--record";
}

static void decide(struct arguments *a, const bool *given)
{
    if (a->protocol && strcmp(a->protocol, "ours") != 0 && strcmp(a->protocol, "paper") != 0)
        fail_option("protocol", a->protocol, "not one of ours, paper");
    if (a->live && a->record) fail_option("live", NULL, "not with --record");
    a->mode = a->record ? RECORD : a->live ? LIVE : a->protocol && *a->protocol == 'p' ? PAPER : OURS;
    for (size_t i = 0; i < KNOWN; i++) {
        if (!given[i] || known[i].modes & a->mode) continue;
        if (a->mode == OURS) fail_option(known[i].name, NULL, "only with %s", name_of(known[i].modes));
        fail_option(known[i].name, NULL, "not with %s", name_of(a->mode));
    }
}

/* ---- words of the command line ---- */

static void set(struct arguments *a, const struct known *k, const char *value)
{
    void *at = (char *)a + k->at;
    switch (k->kind) {
    case TIME:
        *(double *)at = duration(k->name, value);
        break;
    case NUMBER:
        *(uint32_t *)at = number(k->name, value, value, 0, k->most, NULL);
        break;
    case FLAG:
        *(bool *)at = true;
        break;
    case TEXT:
        *(const char **)at = value;
        break;
    }
}

/* Returns how many words it took. */
static int take_option(struct arguments *a, char **argv, bool *given)
{
    const char *word = argv[0] + 2, *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word) : strlen(word), i = 0;
    while (i < KNOWN && (strlen(known[i].name) != length || strncmp(known[i].name, word, length) != 0)) i++;
    if (argv[0][1] != '-' || i == KNOWN) fail(argv[0], "no such option" SEE);
    if (known[i].kind == FLAG && equals) fail(argv[0], "takes no value");
    const char *value = known[i].kind == FLAG ? NULL : equals ? equals + 1 : argv[1];
    if (known[i].kind != FLAG && (!value || !*value)) fail_option(known[i].name, NULL, "needs a value" SEE);
    given[i] = true;
    set(a, &known[i], value);
    return known[i].kind != FLAG && !equals ? 2 : 1;
}

void read_arguments(struct arguments *a, char **argv)
{
    bool given[KNOWN] = {false}, ended = false;
    while (*++argv) {
        if (!ended && argv[0][0] == '-' && argv[0][1]) {
            ended = strcmp(argv[0], "--") == 0;
            if (!ended) argv += take_option(a, argv, given) - 1;
        } else if (a->file) {
            fail(argv[0], "one file at a time" SEE);
        } else {
            a->file = argv[0];
        }
    }
    if (a->help) {
        fputs(usage, stdout);
        exit(0);
    }
    decide(a, given);
    if (!a->file)
        fail("no file", a->mode & (LIVE | RECORD) ? "a MODEL is needed" SEE : "a TREE is needed" SEE);
    if (!a->name) a->name = a->file;
    if (a->mode != RECORD) list_workers(a);
}
