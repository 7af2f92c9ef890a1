/* What the workers left in their channels, as if it had been one target: see pool_internal.h.
 *
 * The channel of one of them is the one that is reported: of the one whose end decided, else of the one that
 * got furthest. What the others found is added to it. */
#include "pool_internal.h"

#include <string.h>

static void add(struct mz_counters *to, const struct mz_counters *c)
{
    to->executions += c->executions;
    to->blocked += c->blocked;
    to->cut += c->cut;
    to->transitions += c->transitions;
    to->operations += c->operations;
    to->local_operations += c->local_operations;
    to->races += c->races;
    to->wakeup_nodes += c->wakeup_nodes;
    to->wakeup_nodes_peak += c->wakeup_nodes_peak;
    to->hooks += c->hooks;
    to->engine_bytes += c->engine_bytes;
    to->unjoined += c->unjoined;
    to->kept += c->kept;
    if (c->max_depth > to->max_depth) to->max_depth = c->max_depth;
    if (c->threads > to->threads) to->threads = c->threads;
    if (c->restarts > to->restarts) to->restarts = c->restarts;
}

/* While they run, or if the search was not completed: what they have counted. Workers that we ended, or that
 * were killed, do not count: others do the same again. */
struct mz_counters mz_pool_counters(const struct mz_pool *p)
{
    struct mz_counters all = {0};
    for (uint32_t i = 0; i < p->count; i++)
        if (!p->workers[i]->ours) add(&all, &p->workers[i]->outcome.channel->counters);
    return all;
}

static bool is_known(const struct mz_channel *c, const struct mz_finding *f)
{
    for (uint32_t i = 0; i < c->finding_count; i++)
        if (c->findings[i].hash == f->hash) return true;
    return false;
}

static void add_finding(struct mz_channel *to, const struct mz_channel *from, const struct mz_finding *f)
{
    uint64_t bytes = f->steps * sizeof(struct mz_step);
    if (to->finding_count == MZ_MAX_FINDINGS || is_known(to, f)) return;
    struct mz_finding *g = &to->findings[to->finding_count++];
    *g = *f;
    g->steps_offset = to->arena_offset + to->arena_used;
    if (bytes > to->arena_size - to->arena_used)
        g->steps = 0;
    else
        memcpy((char *)to + g->steps_offset, (const char *)from + f->steps_offset, bytes);
    if (g->steps) to->arena_used += bytes;
}

static void add_notes(struct mz_channel *to, const struct mz_channel *from)
{
    for (size_t i = 0; i < sizeof from->notes / MZ_TEXT && from->notes[i][0]; i++) {
        size_t j = 0;
        while (j < sizeof to->notes / MZ_TEXT && to->notes[j][0] && strcmp(to->notes[j], from->notes[i]) != 0)
            j++;
        if (j < sizeof to->notes / MZ_TEXT) memcpy(to->notes[j], from->notes[i], MZ_TEXT);
    }
}

static void add_warnings(struct mz_channel *to, const struct mz_channel *from)
{
    for (uint32_t i = 0; i < from->warning_count && to->warning_count < MZ_MAX_WARNINGS; i++) {
        uint32_t j = 0;
        while (j < to->warning_count &&
               memcmp(&to->warnings[j], &from->warnings[i], sizeof *to->warnings) != 0)
            j++;
        if (j == to->warning_count) to->warnings[to->warning_count++] = from->warnings[i];
    }
}

static void add_channel(struct mz_channel *to, const struct mz_channel *from)
{
    for (uint32_t i = 0; i < from->finding_count; i++) add_finding(to, from, &from->findings[i]);
    for (int t = 0; t < MZ_MAX_THREADS; t++)
        if (!to->threads[t].used) to->threads[t] = from->threads[t];
    add_notes(to, from);
    add_warnings(to, from);
}

static struct mz_worker *most_telling(const struct mz_pool *p)
{
    struct mz_worker *best = p->workers[0];
    if (p->last) return p->last;
    for (uint32_t i = 1; i < p->count; i++) {
        const struct mz_channel *a = best->outcome.channel, *b = p->workers[i]->outcome.channel;
        if (b->started > a->started || b->location_count > a->location_count) best = p->workers[i];
    }
    return best;
}

void mz_pool_merge(struct mz_pool *p)
{
    struct mz_worker *main = most_telling(p);
    struct mz_outcome *o = p->outcome;
    struct mz_counters counters = mz_pool_counters(p);
    struct mz_balance_counts exact = mz_balance_counts(p->balance);
    for (uint32_t i = 0; i < p->count; i++) {
        struct mz_worker *w = p->workers[i];
        mz_channel_tidy(w->outcome.channel, &p->target->options);
        if (w != main) add_channel(main->outcome.channel, w->outcome.channel);
        o->peak_memory += w->outcome.peak_memory;
    }
    struct mz_channel *c = main->outcome.channel;
    c->counters = counters;
    if (mz_balance_complete(p->balance)) {
        c->counters.executions = exact.executions;
        c->counters.blocked = exact.blocked;
        c->counters.cut = exact.cut;
        c->counters.transitions = exact.transitions;
    }
    c->counters.restarts += exact.restarts;
    if (!p->last) c->end = mz_balance_complete(p->balance) ? MZ_END_COMPLETE : MZ_END_TIME;
    o->killed = main->outcome.killed;
    o->stalled = main->outcome.stalled;
    o->wait_status = p->last ? main->outcome.wait_status : 0;
    o->channel = c;
    main->outcome.channel = NULL;
}
