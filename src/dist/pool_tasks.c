/* Which worker explores what: how many workers there should be, what they are told, and which tasks they get. See
 * pool_internal.h. */
#include "dist/pool_internal.h"

#include <stdlib.h>
#include "base/memory.h"

#define ALONE                                                                                                \
    0.002 /* seconds with two workers before more are started; then their number doubles each time */

/* The worker has loaded other modules: its addresses cannot be translated. */
static void refuse(struct mz_pool *p, struct mz_worker *w, uint32_t missing)
{
    const struct mz_channel *here = p->first_worker ? p->first_worker->outcome.channel : w->outcome.channel;
    uint32_t module = missing < p->layout.count ? p->layout.parts[missing].module - 1 : MZ_MAX_MODULES;
    bool known = module < here->module_count && module < MZ_MAX_MODULES;
    char *name = known ? mz_memory_stringn(here->modules[module].path, sizeof here->modules[module].path - 1)
                       : mz_memory_string("library");
    w->kind->differs(p, w, name);
    free(name);
}

/* Messages identify objects by their addresses in the layout of the first worker. That is a local worker, if there
 * is one, because a remote worker would have to ask for the slot of each thread. May we send messages to this worker
 * yet? */
static bool agrees(struct mz_pool *p, struct mz_worker *w)
{
    struct mz_channel *c = w->outcome.channel;
    if (w->agreed) return true;
    if (!p->layout.count && !p->first_worker && (w->kind->is_here || mz_pool_living_here(p) == 0))
        p->first_worker = w;
    if (!p->layout.count) return p->first_worker == w;
    if (!c->layout.count) return false; /* it has not started so far */
    if (c->layout.count > MZ_MAX_PARTS) {
        w->kind->nonsense(p, w);
        return false;
    }
    uint32_t missing = mz_layout_misses(&p->layout, &c->layout);
    if (missing < p->layout.count || mz_layout_misses(&c->layout, &p->layout) < c->layout.count) {
        refuse(p, w, missing);
        return false;
    }
    c->reference = p->layout;
    w->kind->agree(w, &p->layout);
    return w->agreed = true;
}

void mz_pool_hear(struct mz_pool *p, struct mz_worker *w, struct mz_message *m)
{
    enum mz_heard heard = mz_balance_hear(p->balance, w->number, m, &p->reply);
    switch (heard) {
    case MZ_HEARD:
        break;
    case MZ_HEARD_REPLY:
        mz_worker_say(w, &p->reply);
        break;
    case MZ_HEARD_RESTART:
        mz_pool_start_over(p, w);
        break;
    case MZ_HEARD_VOID:
        mz_pool_start_over(p, NULL);
        break;
    case MZ_HEARD_NONSENSE:
        w->kind->nonsense(p, w);
        break;
    }
    w->hungry = w->alive && !mz_balance_holds(p->balance, w->number);
    if (w->hungry) p->killed = 0;
}

static bool give_task(struct mz_pool *p, struct mz_worker *w)
{
    if (!mz_balance_task(p->balance, w->number, !w->knows, &p->message)) return false;
    w->kind->before_task(p, w);
    mz_worker_say(w, &p->message);
    w->knows = true;
    w->hungry = false;
    return true;
}

static void learn_layout(struct mz_pool *p)
{
    if (p->layout.count || !p->first_worker || !p->first_worker->outcome.channel->layout.count) return;
    p->layout = p->first_worker->outcome.channel->layout;
    if (p->layout.count <= MZ_MAX_PARTS) return;
    p->layout.count = 0;
    if (p->first_worker->alive) p->first_worker->kind->nonsense(p, p->first_worker);
}

/* Give each idle worker a branch. If none are left, ask the other workers for some. */
void mz_pool_distribute(struct mz_pool *p)
{
    bool wanting = false;
    mz_balance_expect(p->balance, p->living);
    if (p->living > p->most) p->most = p->living;
    learn_layout(p);
    for (uint32_t i = 0; i < p->count; i++) {
        struct mz_worker *w = p->workers[i];
        if (!w->alive || !w->hungry) continue;
        if (!w->knows && !agrees(p, w)) continue;
        if (p->saving == MZ_SAVING_NOT) wanting |= !give_task(p, w);
    }
    enum mz_share_wish wish = p->saving != MZ_SAVING_NOT ? MZ_SHARE_GIVE_ALL
                              : wanting                  ? MZ_SHARE_GIVE
                                                         : MZ_SHARE_KEEP;
    for (uint32_t i = 0; i < p->count; i++) {
        struct mz_worker *w = p->workers[i];
        if (w->alive && !w->hungry) w->kind->wish(w, wish);
    }
}

uint32_t mz_pool_most_here(const struct mz_pool *p) { return p->settled ? p->settled : p->options->jobs; }

/* Number of workers at this moment: few for a search that ends soon. */
uint32_t mz_pool_wanted_here(const struct mz_pool *p, double now)
{
    uint32_t wanted = 2, most = mz_pool_most_here(p);
    for (double t = p->began + ALONE; t <= now && wanted < most; t += ALONE) wanted *= 2;
    return p->at_once || wanted > most ? most : wanted;
}

void mz_pool_start_workers(struct mz_pool *p, double now)
{
    if (p->asked > 0 || p->stop_when_saved || p->outcome->given_up > 0) return;
    uint32_t here = mz_pool_wanted_here(p, now);
    for (int i = 0; mz_worker_kinds[i]; i++) mz_worker_kinds[i]->start(p, here);
}
