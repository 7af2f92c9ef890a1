/* What a worker puts into its messages to the balancer. See worker_part.h. */
#include "engine/worker_part.h"
#include "engine/stateful/stateful.h"

struct mz_message *mz_share_begin(struct mz_exploration *x, enum mz_share_kind kind)
{
    mz_message_clear(&x->share->out);
    mz_put(&x->share->out, kind);
    return &x->share->out;
}

void mz_share_send(struct mz_exploration *x) { x->options.share->send(x->options.system, &x->share->out); }

void mz_share_put_knowledge(struct mz_exploration *x, struct mz_message *m)
{
    mz_put(m, x->share->knowledge_due);
    if (!x->share->knowledge_due) return;
    x->share->knowledge_due = false;
    mz_put_objects(&x->trace, m);
    size_t at = m->count;
    mz_put(m, 0);
    if (x->options.share->put_knowledge) x->options.share->put_knowledge(x->options.system, m);
    if (x->stateful) mz_shared_put_round(x, m);
    uint32_t length = (uint32_t)(m->count - at - sizeof length);
    __builtin_memcpy(m->data + at, &length, sizeof length);
}

void mz_share_get_knowledge(struct mz_exploration *x, struct mz_message *m)
{
    if (!mz_get(m)) return;
    mz_get_objects(&x->trace, m);
    size_t length = mz_get(m), end = m->at + length;
    if (length && x->options.share->get_knowledge) x->options.share->get_knowledge(x->options.system, m);
    if (length && x->stateful) mz_shared_get_round(x, m);
    if (m->at != end) m->bad = true;
    x->share->knowledge_due = false; /* the balancer has just sent it */
}

void mz_share_put_tally(struct mz_exploration *x, struct mz_message *m, struct mz_tally now)
{
    struct mz_tally *told = &x->share->told;
    mz_put_tally(m, (struct mz_tally){now.executions - told->executions, now.blocked - told->blocked,
                                      now.cut - told->cut, now.transitions - told->transitions});
    *told = now;
}
