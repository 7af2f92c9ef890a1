/* Combine the channels of all workers, as if they had been one target: see pool_internal.h.
 *
 * The report uses the channel of one worker: the one whose end decided the outcome, otherwise the one that got
 * furthest. The findings of the other workers are added to it. */
#include "dist/pool_internal.h"
#include "launch/process.h"
#include "dist/remote.h"
#include "launch/untrusted.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "event/thread_paths.h"

/* An assertion that any worker has reached. The workers run the same program, so they list the same assertions. */
static void add_assertions(struct mz_channel *to, const struct mz_channel *c)
{
    if (to->assertion_count != c->assertion_count) return;
    for (uint32_t i = 0; i < c->assertion_count && i < MZ_MAX_ASSERTIONS; i++)
        to->assertions[i].reached |= c->assertions[i].reached;
}

/* Maxima over all workers, also over those that died. */
static void add_seen(struct mz_counters *to, const struct mz_counters *c)
{
    to->hooks += c->hooks;
    to->kept += c->kept;
    to->bounded += c->bounded;
    to->uncreated += c->uncreated;
    to->beyond += c->beyond;
    if (c->max_depth > to->max_depth) to->max_depth = c->max_depth;
    if (c->threads > to->threads) to->threads = c->threads;
}

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
    to->engine_bytes += c->engine_bytes;
    to->unjoined += c->unjoined;
    to->revisited += c->revisited;
    to->matches += c->matches;
    to->peeks += c->peeks;
    to->forgot += c->forgot;
}

/* Of a stateful search, each state once. */
static uint64_t states_of(const struct mz_pool *p)
{
    uint64_t round = 0;
    if (!p->finished) return 0;
    if (!mz_finished_is_complete(p->finished, &round)) round = mz_finished_round(p->finished);
    return mz_finished_states(p->finished, round);
}

/* Counts while workers run, or if the search was not completed. Workers that we ended, or that were killed, do not
 * count: other workers repeat their work. (Not in stateful searches: what a killed worker has finished stays finished.) */
struct mz_counters mz_pool_counters(const struct mz_pool *p)
{
    struct mz_counters all = p->before;
    for (uint32_t i = 0; i < p->count; i++) {
        const struct mz_counters *c = &p->workers[i]->outcome.channel->counters;
        if (!p->workers[i]->ours) add(&all, c);
        add_seen(&all, c);
    }
    all.states = states_of(p);
    return all;
}

void mz_pool_found(struct mz_pool *p, const struct mz_finding *f, const struct mz_step *steps)
{
    for (uint32_t i = 0; i < p->found.count; i++)
        if (p->found.items[i].finding.hash == f->hash) return;
    p->found.lost |= p->found.count == MZ_MAX_FINDINGS;
    if (p->found.lost) return;
    p->found.items = realloc(p->found.items, (p->found.count + 1) * sizeof *p->found.items);
    if (!p->found.items) abort();
    struct mz_found *found = &p->found.items[p->found.count];
    found->finding = *f;
    found->steps = mz_memory_new((f->steps + (size_t)1) * sizeof *found->steps);
    memcpy(found->steps, steps, f->steps * sizeof *found->steps);
    if (mz_steps_sound(found->steps,
                       f->steps)) /* use the copy: the program may write to the channel meanwhile */
        p->found.count++;
    else
        free(found->steps);
}

/* Translate from the addresses of a worker to the reference layout. */
static const struct mz_translation *translation(const struct mz_pool *p, struct mz_worker *w)
{
    static const struct mz_translation none;
    const struct mz_layout *own = &w->outcome.channel->layout;
    if (!own->count || !p->layout.count) return &none;
    if (!w->layout) {
        w->layout = mz_memory_new(sizeof *w->layout);
        mz_translation_make(w->layout, own, &p->layout);
    }
    return w->layout;
}

/* The worker may still be writing its newest finding: read only those below finding_count. */
void mz_pool_collect(struct mz_pool *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        const struct mz_channel *c = p->workers[i]->outcome.channel;
        uint32_t n = c->finding_count < MZ_MAX_FINDINGS ? c->finding_count : MZ_MAX_FINDINGS;
        for (uint32_t j = 0; j < n; j++) {
            struct mz_finding f = c->findings[j];
            uint64_t size = p->workers[i]->outcome.channel_size;
            if (f.steps > p->target->options.max_steps + 1) continue; /* no execution is that long */
            if (f.steps_offset > size || f.steps > (size - f.steps_offset) / sizeof(struct mz_step)) continue;
            const struct mz_step *steps = (const void *)((const char *)c + f.steps_offset);
            if (!mz_finding_tidy(&f, 0)) continue;
            mz_translate_finding(translation(p, p->workers[i]), &f);
            mz_pool_found(p, &f, steps);
        }
    }
}

static void put_findings(struct mz_pool *p, struct mz_channel *to)
{
    to->arena_used = 0;
    to->finding_count = p->found.count;
    to->findings_lost |= p->found.lost;
    for (uint32_t i = 0; i < p->found.count; i++) {
        struct mz_finding *f = &to->findings[i];
        *f = p->found.items[i].finding;
        uint64_t bytes = f->steps * sizeof(struct mz_step);
        f->steps_offset = to->arena_offset + to->arena_used;
        if (bytes > to->arena_size - to->arena_used) f->steps = 0, bytes = 0;
        memcpy((char *)to + f->steps_offset, p->found.items[i].steps, bytes);
        to->arena_used += bytes;
    }
}

/* Lists of `room` texts of `size` bytes each: an empty text ends a list. */
static void add_texts(char *to, const char *from, size_t room, size_t size)
{
    for (size_t i = 0; i < room && from[i * size]; i++) {
        size_t j = 0;
        while (j < room && to[j * size] && strncmp(to + j * size, from + i * size, size) != 0) j++;
        if (j < room) memcpy(to + j * size, from + i * size, size);
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

/* Slots that no worker of this run used: findings of a checkpoint may name them. */
static void add_slots(struct mz_channel *to, const struct mz_common *common)
{
    for (int s = 1; s < MZ_MAX_THREADS; s++) {
        uint32_t name = common->slots[s] - 1; /* in the same way as runtime/core/worker.c */
        if (!to->threads[s].used && common->slots[s])
            mz_threads_add(to->threads, s, (int)(name >> 8), (name & 255) + 1);
    }
}

static void add_reorders(struct mz_channel *to, const struct mz_channel *from)
{
    for (uint32_t i = 0; i < from->reorder_count && to->reorder_count < MZ_MAX_REORDERS; i++) {
        const struct mz_reorder *r = &from->reorders[i];
        uint32_t j = 0;
        while (j < to->reorder_count &&
               (to->reorders[j].pc[0] != r->pc[0] || to->reorders[j].pc[1] != r->pc[1]))
            j++;
        if (j == to->reorder_count) to->reorders[to->reorder_count++] = *r;
    }
}

/* The entry of a place, else a free one; NULL: there is none. */
static struct mz_hot_spot *hot_spot_of(struct mz_channel *c, uint64_t pc)
{
    struct mz_hot_spot *free = NULL;
    for (uint32_t i = 0; i < MZ_MAX_HOT_SPOTS; i++) {
        if (c->hot_spots[i].pc == pc) return &c->hot_spots[i];
        if (!free && !c->hot_spots[i].pc) free = &c->hot_spots[i];
    }
    return free;
}

static void add_hot_spots(struct mz_channel *to, const struct mz_channel *from)
{
    for (uint32_t i = 0; i < MZ_MAX_HOT_SPOTS; i++) {
        const struct mz_hot_spot *s = &from->hot_spots[i];
        struct mz_hot_spot *sum = s->pc ? hot_spot_of(to, s->pc) : NULL;
        if (!sum) continue;
        if (!sum->pc) *sum = (struct mz_hot_spot){.pc = s->pc, .key = s->key, .op = s->op};
        if (sum->key != s->key) sum->key = 0;
        sum->executions += s->executions;
        if (s->threads > sum->threads) sum->threads = s->threads;
        if (s->times > sum->times) sum->times = s->times;
    }
}

/* Is it the same variable in the same module? Addresses of workers have been translated. */
static void add_unseen_writes(struct mz_channel *to, const struct mz_channel *from)
{
    for (uint32_t i = 0; i < from->unseen_write_count && to->unseen_write_count < MZ_MAX_UNSEEN_WRITES; i++) {
        uint32_t j = 0;
        while (j < to->unseen_write_count && to->unseen_writes[j].address != from->unseen_writes[i].address)
            j++;
        if (j == to->unseen_write_count) to->unseen_writes[to->unseen_write_count++] = from->unseen_writes[i];
    }
}

/* The lists that a checkpoint keeps. */
static void add_lists(struct mz_channel *to, const struct mz_channel *from)
{
    add_texts(to->unseen[0], from->unseen[0], MZ_MAX_UNSEEN, MZ_LONG_TEXT);
    add_unseen_writes(to, from);
    add_warnings(to, from);
    add_reorders(to, from);
}

static void add_channel(struct mz_channel *to, const struct mz_channel *from)
{
    for (int t = 0; t < MZ_MAX_THREADS; t++)
        if (!to->threads[t].used) to->threads[t] = from->threads[t];
    add_texts(to->notes[0], from->notes[0], sizeof to->notes / MZ_TEXT, MZ_TEXT);
    add_lists(to, from);
    add_hot_spots(to, from);
    to->findings_lost |= from->findings_lost;
}

/* Workers may still write to their channels: use copies. */
struct mz_channel *mz_pool_unseen(struct mz_pool *p)
{
    struct mz_channel *all = mz_memory_new(sizeof *all), *one = mz_memory_new(sizeof *one);
    if (p->kept) add_lists(all, p->kept);
    for (uint32_t i = 0; i < p->count; i++) {
        const struct mz_channel *c = p->workers[i]->outcome.channel;
        memcpy(one->unseen, c->unseen, sizeof one->unseen);
        memcpy(one->unseen_writes, c->unseen_writes, sizeof one->unseen_writes);
        memcpy(one->warnings, c->warnings, sizeof one->warnings);
        memcpy(one->reorders, c->reorders, sizeof one->reorders);
        one->unseen_write_count = c->unseen_write_count;
        one->warning_count = c->warning_count;
        one->reorder_count = c->reorder_count;
        mz_channel_contents_tidy(one);
        mz_translate_channel(translation(p, p->workers[i]), one);
        add_lists(all, one);
    }
    free(one);
    return all;
}

/* Module files are looked up on this host. */
static void name_modules(const struct mz_pool *p, struct mz_channel *c)
{
    for (uint32_t i = 0; i < p->count; i++) {
        const struct mz_channel *here = p->workers[i]->outcome.channel;
        if (!p->workers[i]->kind->is_here || here->module_count != c->module_count) continue;
        for (uint32_t m = 0; m < c->module_count; m++)
            memcpy(c->modules[m].path, here->modules[m].path, sizeof c->modules[m].path);
        return;
    }
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

static void tell_sharing(const struct mz_pool *p, const struct mz_balance_counts *counts,
                         struct mz_sharing *s)
{
    double idle = 0, alive = 0;
    *s = (struct mz_sharing){.workers = p->most,
                             .wanted = p->options->jobs,
                             .lost = p->lost,
                             .redundant = p->redundant,
                             .tasks = counts->tasks,
                             .parts = counts->parts,
                             .splits = counts->splits + counts->returns,
                             .updates = counts->updates,
                             .inserted = counts->inserted,
                             .processor = mz_process_used() - p->used_before,
                             .is_resumed = p->options->resume != NULL,
                             .resumed = p->before.executions,
                             .is_saved = p->is_saved};
    for (uint32_t i = 0; i < p->count; i++) {
        const struct mz_worker *w = p->workers[i];
        const struct mz_link *link = w->outcome.link;
        s->bytes += link->to_command.written + link->to_worker.written;
        s->processor += w->processor;
        idle += (double)link->idle;
        alive += (double)link->alive;
    }
    s->idle = alive > 0 ? idle / alive : 0;
    mz_remote_summary(p, s);
}

void mz_pool_merge(struct mz_pool *p)
{
    struct mz_worker *main = most_telling(p);
    struct mz_outcome *o = p->outcome;
    struct mz_counters counters = mz_pool_counters(p);
    struct mz_balance_counts exact = mz_balance_counts(p->balance);
    mz_pool_collect(p);
    for (uint32_t i = 0; i < p->count; i++) {
        struct mz_worker *w = p->workers[i];
        mz_channel_tidy(w->outcome.channel, &p->target->options);
        mz_translate_channel(translation(p, w), w->outcome.channel);
        if (w != main) add_channel(main->outcome.channel, w->outcome.channel);
        if (w != main) add_assertions(main->outcome.channel, w->outcome.channel);
        o->peak_memory += w->outcome.peak_memory;
    }
    o->peak_memory += mz_process_peak(); /* the tree is here */
    struct mz_channel *c = main->outcome.channel;
    /* What earlier runs and other hosts have reached is not known. */
    if (p->options->resume || p->cluster) c->assertion_count = 0;
    if (p->kept) add_lists(c, p->kept);
    add_slots(c, p->common);
    if (!main->kind->is_here) name_modules(p, c);
    tell_sharing(p, &exact, &o->sharing);
    put_findings(p, c);
    c->counters = counters;
    c->counters.work_done = (uint64_t)(p->work_done * (double)MZ_ALL_WORK);
    /* A complete worker only means that it has no task; and when a limit is reached, nothing may be left. */
    bool complete = mz_balance_complete(p->balance);
    bool limit = c->end == MZ_END_EXECUTIONS || c->end == MZ_END_MEMORY;
    bool is_sample = mz_balance_sampled(p->balance, &c->sample); /* its workers have reported all of theirs */
    bool all_reported = complete || is_sample || (p->is_saved && (!p->last || limit));
    if (all_reported && !p->finished) { /* what has not been reported will be explored again */
        c->counters.executions = exact.executions;
        c->counters.blocked = exact.blocked;
        c->counters.cut = exact.cut;
        c->counters.transitions = exact.transitions;
    }
    if (complete)
        c->counters.wakeup_nodes =
            0; /* memory of workers includes what they know of other workers' branches */
    c->counters.restarts = p->before.restarts + exact.restarts; /* workers have reported all of theirs */
    if (!p->last || c->end == MZ_END_COMPLETE || (complete && limit))
        c->end = !complete               ? p->too_large ? MZ_END_MEMORY : MZ_END_TIME
                 : c->counters.bounded   ? MZ_END_ROUNDS
                 : c->counters.uncreated ? MZ_END_THREADS
                                         : MZ_END_COMPLETE;
    o->killed = p->last && main->outcome.killed;
    o->stalled = main->outcome.stalled;
    o->wait_status = p->last ? main->outcome.wait_status : 0;
    o->channel = c;
    o->channel_size = main->outcome.channel_size;
    main->outcome.channel = NULL;
}
