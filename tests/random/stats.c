/* Statistics of a run of mz-random, see stats.h. */
#include "stats.h"

#include <inttypes.h>

static const char *const feature_names[MZ_FEATURE_MACHINE] = {
    [MZ_FEATURE_FAILED_CAS] = "failed cas",
    [MZ_FEATURE_FAILED_TRYLOCK] = "failed trylock",
    [MZ_FEATURE_CONTENTION] = "contended lock",
    [MZ_FEATURE_NESTED_LOCK] = "nested lock",
    [MZ_FEATURE_SELF_LOCK] = "lock of one's own mutex",
    [MZ_FEATURE_IDLE_UNLOCK] = "unlock of what is not held",
    [MZ_FEATURE_VISIBLE_UNLOCK] = "unlock as an event",
    [MZ_FEATURE_WAIT] = "wait",
    [MZ_FEATURE_LOST_SIGNAL] = "lost signal",
    [MZ_FEATURE_SIGNAL_WAKES] = "signal that wakes",
    [MZ_FEATURE_SIGNAL_CHOICE] = "signal with a choice",
    [MZ_FEATURE_EARLY_WAKE] = "woken before the release",
    [MZ_FEATURE_BROADCAST_MANY] = "broadcast to many",
    [MZ_FEATURE_SEM_BLOCKS] = "semaphore blocks",
    [MZ_FEATURE_CHOOSE] = "choose",
    [MZ_FEATURE_SPAWN] = "spawn",
    [MZ_FEATURE_JOIN_WAITS] = "join that waits",
    [MZ_FEATURE_JOIN_ABSENT] = "join before the spawn",
    [MZ_FEATURE_JUMP] = "jump taken",
    [MZ_FEATURE_NO_JUMP] = "jump not taken",
    [MZ_FEATURE_ASSERT_HOLDS] = "assertion holds",
    [MZ_FEATURE_ASSERT_FAILS] = "assertion fails",
    [MZ_FEATURE_TIMEOUT] = "timeout",
    [MZ_FEATURE_TIMED_WOKEN] = "woken before a timeout",
    [MZ_FEATURE_FAILED_SEM_TRY] = "failed sem_trywait",
    [MZ_FEATURE_READERS] = "several readers",
    [MZ_FEATURE_WRITER_WAITS] = "writer waits for readers",
    [MZ_FEATURE_READER_WAITS] = "reader waits for a writer",
    [MZ_FEATURE_CLAIM_WAITS] = "reader waits for a claim",
    [MZ_FEATURE_FAILED_TRYRDLOCK] = "failed tryrdlock",
    [MZ_FEATURE_FAILED_TRYWRLOCK] = "failed trywrlock",
    [MZ_FEATURE_ONCE_DONE] = "once is done",
    [MZ_FEATURE_ONCE_WAITS] = "once waits",
    [MZ_FEATURE_FUTEX_WAITS] = "futex_wait waits",
    [MZ_FEATURE_FUTEX_GOES_ON] = "futex_wait goes on",
    [MZ_FEATURE_FUTEX_WOKEN] = "woken on a futex",
    [MZ_FEATURE_SECTION] = "atomic section",
    [MZ_FEATURE_SECTION_MEETS] = "section after other threads",
    [MZ_FEATURE_AWAIT_WAITS] = "await waits",
    [MZ_FEATURE_AWAIT] = "await",
    [MZ_FEATURE_BUMP] = "bump",
    [MZ_FEATURE_RECEIVE_WAITS] = "receive waits",
    [MZ_FEATURE_RECEIVE] = "receive",
    [MZ_FEATURE_RECEIVE_SELECTS] = "receive passes over a message",
    [MZ_FEATURE_TRY_RECEIVES] = "try_receive",
    [MZ_FEATURE_TRY_FINDS_NOTHING] = "try_receive finds nothing",
};
static const char *const trait_names[MZ_TRAITS] = {
    [MZ_TRAIT_CLASSES] = "more than one class",
    [MZ_TRAIT_OUTCOMES] = "more than one outcome",
    [MZ_TRAIT_DEADLOCK] = "deadlock",
    [MZ_TRAIT_DEADLOCK_SOME] = "deadlock, but not always",
    [MZ_TRAIT_FAILING] = "failing assertion",
    [MZ_TRAIT_FAILING_SOME] = "failing, but not always",
    [MZ_TRAIT_LOOPS] = "loops",
    [MZ_TRAIT_BLOCKED_SOURCE] = "source is blocked once",
};
static const uint64_t size_limits[MZ_STATS_SIZES] = {1, 3, 9, 99, 999, UINT64_MAX};

static void count_traits(struct mz_stats *s, const struct mz_checker *c)
{
    const struct mz_findings *f = mz_check_ends(c);
    const bool traits[MZ_TRAITS] = {
        [MZ_TRAIT_CLASSES] = f->classes.count > 1,
        [MZ_TRAIT_LOOPS] = c->loops,
        [MZ_TRAIT_OUTCOMES] = f->outcomes.count > 1,
        [MZ_TRAIT_DEADLOCK] = f->deadlocked > 0,
        [MZ_TRAIT_DEADLOCK_SOME] =
            f->deadlocked > 0 && f->deadlocked<f->executions, [MZ_TRAIT_FAILING] = f->failing> 0,
        [MZ_TRAIT_FAILING_SOME] =
            f->failing > 0 &&
            f->failing<f->executions, [MZ_TRAIT_BLOCKED_SOURCE] = c->counts[MZ_CONFIG_SOURCE].blocked> 0,
    };
    for (int i = 0; i < MZ_TRAITS; i++) s->traits[i] += traits[i];
}

void mz_stats_count(struct mz_stats *s, const struct mz_checker *c)
{
    int size = 0;
    while (c->oracle.found.classes.count > size_limits[size]) size++;
    s->programs++;
    s->sizes[size]++;
    s->classes += c->oracle.found.classes.count;
    s->states += c->all.states.count;
    for (int i = 0; i < MZ_FEATURE_MACHINE; i++) s->features[i] += c->oracle.features >> i & 1;
    count_traits(s, c);
    for (int i = 0; i < MZ_CONFIGS; i++) {
        s->counts[i].programs += c->counts[i].programs;
        s->counts[i].executions += c->counts[i].executions;
        s->counts[i].blocked += c->counts[i].blocked;
        s->counts[i].states += c->counts[i].states;
        s->counts[i].transitions += c->counts[i].transitions;
        s->counts[i].revisited += c->counts[i].revisited;
        s->counts[i].near += c->counts[i].near;
        s->counts[i].far += c->counts[i].far;
    }
}

void mz_stats_add(struct mz_stats *s, const struct mz_stats *other)
{
    /* Nothing but counters. */
    uint64_t *to = (uint64_t *)s;
    const uint64_t *from = (const uint64_t *)other;
    for (size_t i = 0; i < sizeof *s / sizeof *to; i++) to[i] += from[i];
}

static void print_share(FILE *f, const char *name, uint64_t count, uint64_t all)
{
    fprintf(f, "  %-28s %6.1f %%\n", name, all ? 100.0 * (double)count / (double)all : 0);
}

void mz_stats_print(const struct mz_stats *s, FILE *f)
{
    fprintf(f, "programs with\n");
    for (int i = 0; i < MZ_TRAITS; i++) print_share(f, trait_names[i], s->traits[i], s->programs);
    for (int i = 0; i < MZ_FEATURE_MACHINE; i++)
        print_share(f, feature_names[i], s->features[i], s->programs);
    fprintf(f, "classes: %" PRIu64 ";", s->classes);
    for (int i = 0; i < MZ_STATS_SIZES; i++) {
        if (i + 1 < MZ_STATS_SIZES)
            fprintf(f, " up to %" PRIu64 ":", size_limits[i]);
        else
            fprintf(f, " more:");
        fprintf(f, " %.1f %%%s", s->programs ? 100.0 * (double)s->sizes[i] / (double)s->programs : 0,
                i + 1 < MZ_STATS_SIZES ? "," : "\n");
    }
    fprintf(f, "%" PRIu64 " programs were made smaller to fit the limits\n", s->smaller);
    fprintf(f, "%" PRIu64 " states\n", s->states);
    fprintf(f, "%-18s %9s %11s %9s %10s %11s %10s\n", "algorithm", "programs", "executions", "blocked",
            "states", "transitions", "revisited");
    for (int i = 0; i < MZ_CONFIGS; i++)
        fprintf(f,
                "%-18s %9" PRIu64 " %11" PRIu64 " %9" PRIu64 " %10" PRIu64 " %11" PRIu64 " %10" PRIu64 "\n",
                mz_config_name((enum mz_config)i), s->counts[i].programs, s->counts[i].executions,
                s->counts[i].blocked, s->counts[i].states, s->counts[i].transitions, s->counts[i].revisited);
    const struct mz_run_counts *l = &s->counts[MZ_CONFIG_LITERAL];
    if (l->programs)
        fprintf(f,
                "races that were looked at: %" PRIu64 " near the end (by sets of events), %" PRIu64
                " far from it (by clocks)\n",
                l->near, l->far);
}
