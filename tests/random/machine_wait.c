/* The oracle's interpreter: awaits and message channels. See machine.h and machine_state.h. */
#include "machine_state.h"

/* Awaits. */

static bool related(int a, int relation, int b)
{
    const bool answers[] = {a == b, a != b, a<b, a> b};
    return answers[relation];
}

bool mz_machine_condition(const struct mz_machine_state *s, int t, const struct mz_model_op *op)
{
    const struct mz_state_object *vars = s->objects[MZ_MODEL_VAR];
    bool first = related(vars[op->object].content, op->relation, operand(s, t, &op->a));
    if (!mz_model_is_joint(op)) return first;
    bool second = related(vars[op->mutex].content, op->relation2, operand(s, t, &op->b));
    return op->joint == MZ_MODEL_AND ? first && second : first || second;
}

static bool awaits(const struct mz_model_op *op, int variable)
{
    return op->object == variable || (mz_model_is_joint(op) && op->mutex == variable);
}

/* An await reads all its variables. */
static mz_lanes order_await(struct mz_machine_state *s, int t, const struct mz_model_op *op)
{
    mz_lanes clock = s->threads[t].clock;
    for (int v = 0; v < MZ_MODEL_OBJECTS; v++) {
        const struct mz_state_object *o = &s->objects[MZ_MODEL_VAR][v];
        if (awaits(op, v)) clock = join(clock, join(o->writes, o->shares));
    }
    clock += (mz_lanes)1 << 8 * t;
    for (int v = 0; v < MZ_MODEL_OBJECTS; v++) {
        struct mz_state_object *o = &s->objects[MZ_MODEL_VAR][v];
        if (awaits(op, v)) o->reads = join(o->reads, clock);
    }
    s->memory = join(s->memory, clock);
    return clock;
}

/* Channels: 2017, section 10. */

int mz_machine_message(const struct mz_machine_state *s, const struct mz_model_op *op)
{
    for (int i = 0; i < s->message_count; i++) {
        const struct mz_state_message *m = &s->messages[i];
        if (!m->taken && m->channel == op->object && m->tag == op->mutex) return i;
    }
    return -1;
}

static mz_lanes order_send(struct mz_machine_state *s, int t, const struct mz_model_op *op)
{
    struct mz_state_object *o = &s->objects[MZ_MODEL_CHAN][op->object];
    mz_lanes clock = join(join(s->threads[t].clock, o->writes), s->missed[op->object][op->mutex]);
    clock += (mz_lanes)1 << 8 * t;
    o->writes = clock;
    return clock;
}

static mz_lanes order_receive(struct mz_machine_state *s, int t, const struct mz_model_op *op)
{
    int i = mz_machine_message(s, op);
    mz_lanes clock = s->threads[t].clock;
    if (i >= 0) clock = join(clock, s->messages[i].clock);
    clock += (mz_lanes)1 << 8 * t;
    if (i < 0) s->missed[op->object][op->mutex] = clock;
    return clock;
}

mz_lanes mz_machine_order_wait(struct mz_machine_state *s, int t, const struct mz_model_op *op)
{
    if (op->code == MZ_MODEL_AWAIT) return order_await(s, t, op);
    return op->code == MZ_MODEL_SEND ? order_send(s, t, op) : order_receive(s, t, op);
}

void mz_machine_channel(struct mz_machine *k, struct mz_machine_state *s, int t, const struct mz_model_op *op)
{
    int i = mz_machine_message(s, op);
    if (op->code == MZ_MODEL_SEND) {
        s->messages[s->message_count++] = (struct mz_state_message){
            s->threads[t].clock, (mz_model_value)operand(s, t, &op->a), op->object, op->mutex, false};
        return;
    }
    for (int j = 0; j < i; j++)
        feature_if(k, !s->messages[j].taken && s->messages[j].channel == op->object,
                   MZ_FEATURE_RECEIVE_SELECTS);
    if (op->code == MZ_MODEL_TRY_RECEIVE)
        feature(k, i < 0 ? MZ_FEATURE_TRY_FINDS_NOTHING : MZ_FEATURE_TRY_RECEIVES);
    else
        feature(k, MZ_FEATURE_RECEIVE);
    store(s, t, op->result, i < 0 ? -1 : s->messages[i].value);
    if (i >= 0) s->messages[i].taken = true;
}

/* Dependence. */

static bool await_depends(const struct mz_model_op *await, int object, enum mz_use use)
{
    return object >= 0 && object / 16 == MZ_MODEL_VAR && use != MZ_USE_READ && awaits(await, object % 16);
}

/* The step of p, in state s, comes first. */
static bool channel_depends(const struct mz_machine_state *s, const struct mz_model_op *p,
                            const struct mz_model_op *q)
{
    if (p->object != q->object) return false;
    if (p->code == MZ_MODEL_SEND && q->code == MZ_MODEL_SEND) return true;
    if (p->code != MZ_MODEL_SEND && q->code != MZ_MODEL_SEND) return false;
    const struct mz_model_op *receive = p->code == MZ_MODEL_SEND ? q : p;
    if (p->mutex != q->mutex || mz_machine_message(s, receive) >= 0) return false;
    return receive->code == MZ_MODEL_TRY_RECEIVE; /* a receive would be blocked: no question of order */
}

bool mz_machine_dependent(const struct mz_machine *k, const struct mz_machine_state *s, int p,
                          const struct mz_machine_state *r, int q)
{
    const struct mz_model_op *a = current(k, s, p), *b = current(k, r, q);
    int object = mz_machine_object(k, s, p), other = mz_machine_object(k, r, q);
    enum mz_use use = mz_machine_use(k, s, p), other_use = mz_machine_use(k, r, q);
    bool a_awaits = s->threads[p].mode == OP && a->code == MZ_MODEL_AWAIT;
    bool b_awaits = r->threads[q].mode == OP && b->code == MZ_MODEL_AWAIT;
    if (a_awaits || b_awaits)
        return a_awaits ? !b_awaits && await_depends(a, other, other_use) : await_depends(b, object, use);
    if (on_channel(a) && on_channel(b)) return channel_depends(s, a, b);
    if (mz_machine_apart(object, other)) return false;
    return use != other_use || use == MZ_USE_WRITE;
}
