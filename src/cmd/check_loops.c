/* Loops that a fair scheduler would end, such as two threads that wait with trylock for each other's lock: a stateless search
 * can follow them for a bounded number of rounds only (runtime/loops/rounds.c), so that its verdict is *incomplete*. A
 * search that knows states sees that a round leads back to a known state. So if nothing was found within the bound, and
 * the user has not chosen an algorithm, a stateful search decides. Its result counts if it comes to its end or finds an
 * error within a while; otherwise the result of the first search stays. */
#include "cmd/check_internal.h"

#include <stdlib.h>
#include "base/memory.h"

#define LEAST_SECONDS 10.0 /* without a time limit, the second search may take this long, */
#define TIMES         4.0  /* or this many times the time of the first search */

bool mz_check_may_decide(const struct mz_check *c)
{
    const struct mz_settings *s = &c->settings;
    const struct mz_outcome *o = &c->outcome;
    return o->channel->end == MZ_END_ROUNDS && !o->interrupted && !c->report.finding_count &&
           !s->algorithm_given && s->bound == MZ_BOUND_NONE && s->strategy == MZ_STRATEGY_EXHAUSTIVE &&
           !s->checkpoint && !s->resume && !mz_settings_recorded(s) && !c->launched;
}

static void take_algorithm(struct mz_check *c, const struct mz_settings *s)
{
    c->settings = *s;
    c->report.algorithm = s->algorithm_name;
    free(c->recipe.algorithm);
    c->recipe.algorithm = mz_memory_string(s->algorithm_name);
}

int mz_check_decide(struct mz_check *c, int (*search)(struct mz_check *c))
{
    struct mz_settings before = c->settings, settings = before;
    struct mz_outcome first = c->outcome;
    double spent = c->spent.seconds, more = TIMES * first.seconds;
    settings.algorithm = MZ_ALG_S_POR;
    settings.algorithm_name = "s-por";
    settings.sleep_sets = false;
    settings.jobs = 1;
    c->spent.seconds += first.seconds;
    if (settings.time_limit <= 0)
        settings.time_limit = c->spent.seconds + (more > LEAST_SECONDS ? more : LEAST_SECONDS);
    take_algorithm(c, &settings);
    c->outcome = (struct mz_outcome){0};
    int status = search(c);
    c->settings.time_limit = before.time_limit;
    if (status == 0 && (c->report.finding_count || c->outcome.channel->end == MZ_END_COMPLETE)) {
        mz_list_add(&c->report.notes,
                    "optimal can follow a loop that need not end for some rounds only, so s-por, which "
                    "knows states, has decided");
        mz_outcome_release(&first);
        return 0;
    }
    mz_outcome_release(&c->outcome);
    c->outcome = first;
    c->spent.seconds = spent;
    take_algorithm(c, &before);
    return 0;
}
