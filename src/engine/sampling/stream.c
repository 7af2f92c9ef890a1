/* A worker of a shared sample: its tasks are ranges of walks. The other side is dist/balance/samples.c, which says what is in
 * the messages. */
#include "engine/sampling/sampling.h"
#include "engine/strategy.h"
#include "engine/worker_part.h"

bool mz_sampling_task(struct mz_exploration *x, struct mz_message *m)
{
    struct mz_sampling *s = x->sampling;
    s->sample.seed = mz_get_long(m);
    s->number = mz_get_long(m);
    s->left = mz_get(m);
    if (m->bad || !s->left || s->left > MZ_STREAM_WALKS) return false;
    s->met_count = 0;
    s->begun = false;
    s->has_task = true;
    mz_rewind_all(x);
    x->share->told = mz_tally_of(&x->counters);
    return true;
}

void mz_sampling_report(struct mz_exploration *x)
{
    struct mz_sampling *s = x->sampling;
    if (!s->has_task) return; /* it has been told */
    struct mz_message *m = mz_share_begin(x, MZ_SHARE_DONE);
    mz_share_put_tally(x, m, mz_tally_of(&x->counters));
    mz_put_bytes(m, &s->sample, sizeof s->sample);
    mz_put(m, s->met_count);
    mz_put_bytes(m, s->met, s->met_count * sizeof *s->met);
    s->has_task = false;
    s->met_count = 0;
    mz_share_send(x);
}

bool mz_sampling_goes_on(struct mz_exploration *x, const struct mz_class *class)
{
    struct mz_sampling *s = x->sampling;
    if (class) s->met[s->met_count++] = *class;
    s->left--;
    return x->options.share->wish(x->options.system) != MZ_SHARE_GIVE_ALL && s->left;
}
