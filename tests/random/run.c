/* Runs checks in processes of their own, see run.h.
 *
 * Worker w of n checks the programs of the seeds first + w, first + w + n, ... In shared memory it keeps its
 * current seed, its counts, and what it found. At a difference the worker ends. Then the parent draws the
 * same program again, describes it, shrinks it (each candidate in another process), and restarts the worker
 * at the next seed. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/bug.h"
#include "model/text.h"
#include "run.h"
#include "shrink.h"

#define PROGRAM_SECONDS 60 /* of processor time for one program, before it counts as a hang */
#define SHRINK_SECONDS  10
#define EXIT_DIFFERENT  10
#define EXIT_TOO_LARGE  11
#define MAX_JOBS        64

/* What a process tells its parent. */
struct board {
    uint64_t seed, next; /* of the current program; of the next one */
    enum mz_config config;
    char text[512];
    struct mz_run_counts counts[MZ_CONFIGS];
    struct mz_stats stats;
    pid_t pid;
};

static struct board *own; /* of this process, if it is a child */

_Noreturn void mz_bug(const char *file, int line, const char *what)
{
    if (own)
        snprintf(own->text, sizeof own->text, "%s:%d: %s", file, line, what);
    else
        fprintf(stderr, "mz-random: %s:%d: %s\n", file, line, what);
    abort();
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static struct board *new_boards(int count)
{
    void *p = mmap(NULL, (size_t)count * sizeof(struct board), PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        perror("mz-random: mmap");
        exit(2);
    }
    return p;
}

static pid_t fork_or_exit(void)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0) {
        perror("mz-random: fork");
        exit(2);
    }
    if (pid == 0) prctl(PR_SET_PDEATHSIG, SIGKILL); /* no child outlives its parent */
    return pid;
}

static int wait_for(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0) {
    }
    return status;
}

/* How a child ended; a crash gets a text. */
static enum mz_answer answer_of(int status, struct board *b)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return MZ_SAME;
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_DIFFERENT) return MZ_DIFFERENT;
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_TOO_LARGE) return MZ_TOO_LARGE;
    char text[sizeof b->text];
    snprintf(text, sizeof text, "%s", b->text);
    if (!WIFSIGNALED(status))
        snprintf(b->text, sizeof b->text, "ends with status %d; %.400s", WEXITSTATUS(status), text);
    else if (WTERMSIG(status) == SIGPROF)
        snprintf(b->text, sizeof b->text, "hangs");
    else
        snprintf(b->text, sizeof b->text, "dies by signal %d; %.400s", WTERMSIG(status), text);
    return MZ_DIFFERENT;
}

#ifdef MZ_COVERAGE /* `make check`: _exit does not write the counts of gcov */
#include <gcov.h>
#else
static void __gcov_dump(void) {}
#endif

/* Ends the child with what the checker says. */
static _Noreturn void leave(const struct mz_checker *c, enum mz_answer answer)
{
    static const int status[] = {
        [MZ_SAME] = 0, [MZ_DIFFERENT] = EXIT_DIFFERENT, [MZ_TOO_LARGE] = EXIT_TOO_LARGE};
    own->config = c->config;
    memcpy(own->text, c->text, sizeof own->text);
    memcpy(own->counts, c->counts, sizeof own->counts);
    __gcov_dump();
    _exit(status[answer]);
}

static void limit(unsigned seconds)
{
    struct itimerval t = {.it_value = {.tv_sec = seconds}};
    setitimer(ITIMER_PROF, &t, NULL);
}

/* One program in a child. */

struct attempt {
    struct mz_limits limits;
    struct board *board;
    uint64_t seed;
    unsigned seconds;
    bool quiet; /* what the child prints when it crashes is not shown */
};

static enum mz_answer attempt(const struct attempt *a, const struct mz_model *m)
{
    a->board->text[0] = '\0';
    a->board->config = MZ_CONFIG_ORACLE;
    pid_t pid = fork_or_exit();
    if (pid) return answer_of(wait_for(pid), a->board);
    struct mz_checker c = {.limits = a->limits, .shared_seed = a->seed};
    own = a->board;
    if (a->quiet && !freopen("/dev/null", "w", stderr)) _exit(2);
    limit(a->seconds);
    enum mz_answer answer = mz_check_oracle(&c, m);
    for (int i = 0; i < MZ_CONFIGS && answer == MZ_SAME; i++) {
        c.limits.configs = a->limits.configs & mz_config_bit(i);
        own->config = (enum mz_config)i; /* in case it crashes */
        answer = mz_check_engine(&c, m);
    }
    leave(&c, answer);
}

static bool still_fails(void *arg, const struct mz_model *m) { return attempt(arg, m) == MZ_DIFFERENT; }

static void print_program(const char *title, const struct mz_model *m)
{
    static char text[MZ_MODEL_TEXT];
    mz_model_print(m, text, sizeof text);
    printf("--- %s\n%s", title, text);
}

/* The program differs, as a->board says: print it, shrink it, print what is left. */
static void describe(struct attempt *a, const struct mz_run *run, const struct mz_model *m)
{
    struct mz_model small = *m;
    struct mz_checker c = {.limits = a->limits, .shared_seed = a->seed};
    printf("--- %s: %s\n", mz_config_name(a->board->config), a->board->text);
    printf("--- thread order %d\n", (int)mz_check_order(&c));
    print_program("the program", m);
    if (run->shrink) {
        a->limits.configs = a->board->config < MZ_CONFIGS ? mz_config_bit((int)a->board->config) : 0;
        a->seconds = SHRINK_SECONDS;
        a->quiet = true;
        mz_shrink(&small, still_fails, a);
        attempt(a, &small);
        print_program("shrunk", &small);
        printf("--- %s: %s\n", mz_config_name(a->board->config), a->board->text);
    }
    printf("---\n");
    fflush(stdout);
}

enum mz_answer mz_run_one(const struct mz_run *run, const struct mz_model *m, struct mz_checker *c)
{
    struct attempt a = {
        .limits = run->limits, .board = new_boards(1), .seed = run->seed, .seconds = 10 * PROGRAM_SECONDS};
    enum mz_answer answer = attempt(&a, m);
    if (answer == MZ_DIFFERENT) describe(&a, run, m);
    if (answer == MZ_SAME) {
        c->limits = run->limits;
        answer = mz_check_oracle(c, m);
        memcpy(c->counts, a.board->counts, sizeof c->counts);
    }
    munmap(a.board, sizeof *a.board);
    return answer;
}

/* Many programs. */

enum mz_answer mz_run_draw(struct mz_checker *c, const struct mz_knobs *knobs, uint64_t seed,
                           struct mz_model *m, bool *smaller)
{
    enum mz_answer answer;
    *smaller = false;
    mz_generate(seed, knobs, m);
    while ((answer = mz_check_oracle(c, m)) == MZ_TOO_LARGE) {
        mz_generate_smaller(seed, m);
        *smaller = true;
    }
    return answer;
}

static _Noreturn void work(const struct mz_run *run, double end)
{
    struct mz_checker c = {.limits = run->limits};
    struct mz_model m;
    uint64_t stop = run->count ? run->seed + run->count : UINT64_MAX;
    for (; own->next < stop && !(end > 0 && now() > end); own->next += (uint64_t)run->jobs) {
        bool smaller;
        own->seed = own->next;
        c.shared_seed = own->seed;
        limit(PROGRAM_SECONDS);
        enum mz_answer answer = mz_run_draw(&c, &run->knobs, own->seed, &m, &smaller);
        if (answer == MZ_SAME) answer = mz_check_engine(&c, &m);
        if (answer != MZ_SAME) leave(&c, answer);
        mz_stats_count(&own->stats, &c);
        own->stats.smaller += smaller;
    }
    mz_checker_free(&c);
    leave(&c, MZ_SAME);
}

static void start(struct board *b, const struct mz_run *run, double end)
{
    b->text[0] = '\0';
    pid_t pid = fork_or_exit();
    if (pid == 0) {
        own = b;
        work(run, end);
    }
    b->pid = pid;
}

static void describe_seed(const struct mz_run *run, uint64_t seed, const char *text)
{
    struct mz_checker c = {.limits = run->limits};
    struct attempt a = {
        .limits = run->limits, .board = new_boards(1), .seed = seed, .seconds = PROGRAM_SECONDS};
    struct mz_model m;
    bool smaller;
    mz_run_draw(&c, &run->knobs, seed, &m, &smaller);
    mz_checker_free(&c);
    printf("\nDIFFERENCE, seed %" PRIu64 ": %s\n", seed, text);
    if (attempt(&a, &m) == MZ_DIFFERENT)
        describe(&a, run, &m);
    else
        print_program("the program; alone it shows no difference", &m);
    munmap(a.board, sizeof *a.board);
}

static struct board *board_of(struct board *boards, int jobs, pid_t pid)
{
    for (int w = 0; w < jobs; w++)
        if (boards[w].pid == pid) return &boards[w];
    return NULL;
}

/* With --long, the run must have used both methods of redundant_race.c: otherwise it has not tested them. */
static bool are_both_ways_met(const struct mz_run *run, const struct mz_stats *all)
{
    const struct mz_run_counts *l = &all->counts[MZ_CONFIG_LITERAL];
    if (!run->knobs.tail || !l->programs || (l->near && l->far)) return true;
    printf("DIFFERENCE: --long, but not both ways to look at races were met\n");
    return false;
}

/* Returns the number of differences, plus one if are_both_ways_met() is false. */
static unsigned summarize(const struct mz_run *run, const struct board *boards, double seconds,
                          unsigned differences)
{
    struct mz_stats all = {0};
    for (int w = 0; w < run->jobs; w++) mz_stats_add(&all, &boards[w].stats);
    mz_stats_print(&all, stdout);
    differences += !are_both_ways_met(run, &all);
    printf("seed %" PRIu64 ": %" PRIu64
           " programs in %.1f s, %.0f programs/s with %d job%s, %u difference%s\n",
           run->seed, all.programs, seconds, (double)all.programs / seconds, run->jobs,
           run->jobs == 1 ? "" : "s", differences, differences == 1 ? "" : "s");
    return differences;
}

unsigned mz_run_random(const struct mz_run *run)
{
    struct board *boards = new_boards(run->jobs), *b;
    double begin = now(), end = run->seconds > 0 ? begin + run->seconds : 0;
    unsigned differences = 0;
    int status;
    for (int w = 0; w < run->jobs; w++) {
        boards[w].next = run->seed + (uint64_t)w;
        start(&boards[w], run, end);
    }
    for (pid_t pid; (pid = waitpid(-1, &status, 0)) > 0;) {
        if (!(b = board_of(boards, run->jobs, pid)) || answer_of(status, b) == MZ_SAME) continue;
        differences++;
        describe_seed(run, b->seed, b->text);
        b->next += (uint64_t)run->jobs;
        if (differences < run->max_differences) start(b, run, end);
    }
    differences = summarize(run, boards, now() - begin, differences);
    munmap(boards, (size_t)run->jobs * sizeof *boards);
    return differences;
}
