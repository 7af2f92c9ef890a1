/* A shared sample: many workers draw walks (src/engine/sampling). There is no tree. A task is a range of walks, by number; a
 * walk depends on its number and the seed, so no two workers draw the same one. A worker tells the classes that it has met,
 * and its own numbers, when it has drawn its walks, or earlier if it ends. Here is the union of the classes.
 *
 *   task      knowledge; seed, number of the first walk, how many
 *   done      counts; the worker's struct mz_sample, since it began or started over; the class of each complete walk
 *   restart   as in other shared searches: all is void, the worker goes on alone, with its task
 *
 * What a lost worker has reported counts; the rest of its task is not drawn again: other walks are as good.
 *
 * With pct and surw each worker learns from pilots of its own. So the workers' walks may have different distributions: a
 * statement about `alike` walks holds for the least likely of them. */
#include "dist/balance/balance_internal.h"

#include <stdlib.h>
#include <string.h>
#include "trace/class_set.h"

struct mz_samples {
    uint64_t seed, next; /* number of the next walk */
    struct mz_class_set set;
    struct mz_sample before; /* of earlier runs (checkpoints) */
    struct mz_sample latest[MZ_MAX_WORKERS];
    bool busy[MZ_MAX_WORKERS];
};

void mz_balance_sample(struct mz_balance *b, uint64_t seed)
{
    MZ_ASSERT(!b->samples);
    b->samples = mz_grow(NULL, sizeof *b->samples);
    memset(b->samples, 0, sizeof *b->samples);
    b->samples->seed = seed;
    mz_class_set_init(&b->samples->set, MZ_MOST_CLASSES);
}

void mz_samples_free(struct mz_balance *b)
{
    if (!b->samples) return;
    mz_class_set_release(&b->samples->set);
    free(b->samples);
}

/* All that was drawn is void. Numbers of walks go on, so that no walk comes twice. */
static void begin(struct mz_samples *s)
{
    mz_class_set_clear(&s->set);
    memset(&s->before, 0, sizeof s->before);
    memset(s->latest, 0, sizeof s->latest);
    memset(s->busy, 0, sizeof s->busy);
}

void mz_samples_reuse(struct mz_balance *b)
{
    if (!b->samples) return;
    begin(b->samples);
    b->samples->next = 0;
}

bool mz_samples_holds(const struct mz_balance *b, uint32_t worker) { return b->samples->busy[worker]; }

void mz_samples_lost(struct mz_balance *b, uint32_t worker)
{
    if (b->samples->busy[worker]) b->counts.lost++;
    b->samples->busy[worker] = false;
}

bool mz_samples_task(struct mz_balance *b, uint32_t worker, bool is_new, struct mz_message *task)
{
    struct mz_samples *s = b->samples;
    if (s->busy[worker]) return false;
    mz_message_clear(task);
    mz_put(task, MZ_SHARE_TASK);
    mz_put(task, is_new);
    if (is_new) mz_balance_put_knowledge(b, task);
    mz_put_long(task, s->seed);
    mz_put_long(task, s->next);
    mz_put(task, MZ_STREAM_WALKS);
    s->next += MZ_STREAM_WALKS;
    s->busy[worker] = true;
    b->counts.tasks++;
    b->counts.parts++;
    return true;
}

/* ---- hearing ---- */

static void add_tally(struct mz_balance *b, struct mz_message *m)
{
    struct mz_tally t = mz_get_tally(m);
    b->counts.executions += t.executions;
    b->counts.blocked += t.blocked;
    b->counts.cut += t.cut;
    b->counts.transitions += t.transitions;
}

static enum mz_heard hear_done(struct mz_balance *b, uint32_t worker, struct mz_message *m)
{
    struct mz_samples *s = b->samples;
    struct mz_class class;
    add_tally(b, m);
    mz_get_bytes(m, &s->latest[worker], sizeof s->latest[worker]);
    for (uint32_t n = mz_get_count(m, sizeof class); n > 0 && !m->bad; n--) {
        mz_get_bytes(m, &class, sizeof class);
        mz_class_set_add(&s->set, class, 1);
    }
    s->busy[worker] = false;
    return MZ_HEARD;
}

static enum mz_heard hear_restart(struct mz_balance *b, uint32_t worker, struct mz_message *m)
{
    begin(b->samples);
    b->samples->busy[worker] = true;
    b->counts.executions = b->counts.blocked = b->counts.cut = b->counts.transitions = 0;
    mz_object_forget_awaited(&b->trace);
    mz_balance_get_knowledge(b, m);
    b->counts.restarts++;
    b->trace.outdated = false; /* no object is in any message */
    return MZ_HEARD_RESTART;
}

enum mz_heard mz_samples_hear(struct mz_balance *b, uint32_t worker, struct mz_message *m)
{
    enum mz_share_kind kind = (enum mz_share_kind)mz_get(m);
    enum mz_heard heard = MZ_HEARD_NONSENSE;
    if (!b->samples->busy[worker]) return heard;
    if (kind == MZ_SHARE_DONE) heard = hear_done(b, worker, m);
    if (kind == MZ_SHARE_RESTART) heard = hear_restart(b, worker, m);
    return m->bad ? MZ_HEARD_NONSENSE : heard;
}

/* ---- the numbers of all workers ---- */

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

static void add(struct mz_sample *to, const struct mz_sample *from)
{
    to->walks += from->walks;
    to->alike += from->alike;
    to->exceeded += from->exceeded;
    to->threads = larger(to->threads, from->threads);
    to->steps = larger(to->steps, from->steps);
    to->expected = larger(to->expected, from->expected);
    for (int i = 0; i < MZ_MIX_MEMBERS; i++) {
        to->by[i].walks += from->by[i].walks;
        to->by[i].classes += from->by[i].classes;
    }
}

bool mz_balance_sampled(const struct mz_balance *b, struct mz_sample *out)
{
    const struct mz_samples *s = b->samples;
    if (!s) return false;
    *out = s->before;
    for (uint32_t w = 0; w < MZ_MAX_WORKERS; w++) add(out, &s->latest[w]);
    out->seed = s->seed;
    out->complete = s->set.met;
    out->classes = mz_class_set_count(&s->set);
    out->once = s->set.once;
    out->twice = s->set.twice;
    out->shift = s->set.shift;
    return true;
}

/* ---- checkpoints ---- */

void mz_samples_save(struct mz_balance *b, struct mz_message *m)
{
    const struct mz_samples *s = b->samples;
    const struct mz_balance_counts *c = &b->counts;
    struct mz_sample all;
    mz_balance_sampled(b, &all);
    mz_balance_put_knowledge(b, m);
    mz_put_tally(m, (struct mz_tally){c->executions, c->blocked, c->cut, c->transitions});
    mz_put_long(m, s->seed);
    mz_put_long(m, s->next);
    mz_put_bytes(m, &all, sizeof all);
    mz_put(m, s->set.shift);
    mz_put(m, mz_class_set_count(&s->set));
    for (uint32_t i = 1; i <= mz_class_set_count(&s->set); i++)
        mz_put_bytes(m, &s->set.entries[i], sizeof *s->set.entries);
}

bool mz_samples_load(struct mz_balance *b, struct mz_message *m)
{
    struct mz_samples *s = b->samples;
    struct mz_class_entry e;
    begin(s);
    mz_balance_get_knowledge(b, m);
    b->counts.executions = b->counts.blocked = b->counts.cut = b->counts.transitions = 0;
    add_tally(b, m);
    s->seed = mz_get_long(m);
    s->next = mz_get_long(m);
    mz_get_bytes(m, &s->before, sizeof s->before);
    uint32_t shift = mz_get(m);
    if (shift > 40) m->bad = true;
    if (!m->bad) mz_class_set_raise(&s->set, shift);
    for (uint32_t n = mz_get_count(m, sizeof e); n > 0 && !m->bad; n--) {
        mz_get_bytes(m, &e, sizeof e);
        mz_class_set_add(&s->set, e.class, e.times);
    }
    b->trace.outdated = false;
    return !m->bad;
}
