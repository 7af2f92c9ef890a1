/* Shrinks a model that fails: tries smaller models one after the other, keeps each that still fails, and ends
 * when none does. Every change makes the model smaller in the order (operations, constants and names), so
 * shrinking ends. */
#include <string.h>
#include "edit.h"
#include "shrink.h"

struct shrinker {
    struct mz_model *m; /* the smallest that fails so far */
    struct mz_model candidate;
    bool (*fails)(void *arg, const struct mz_model *m);
    void *arg;
};

/* Make the candidate the new smallest model if it fails, too. Returns whether it does. */
static bool keep(struct shrinker *s)
{
    mz_edit_remove_unused(&s->candidate);
    if (mz_model_check(&s->candidate) || !s->fails(s->arg, &s->candidate)) return false;
    *s->m = s->candidate;
    return true;
}

static bool remove_threads(struct shrinker *s)
{
    bool better = false;
    for (int t = s->m->thread_count; t-- > 0;) {
        s->candidate = *s->m;
        mz_edit_remove_thread(&s->candidate, t);
        better |= keep(s);
    }
    return better;
}

static bool remove_ops(struct shrinker *s)
{
    bool better = false;
    for (int t = 0; t < s->m->thread_count; t++)
        for (int i = s->m->threads[t].length; i-- > 0;) {
            s->candidate = *s->m;
            mz_edit_remove_op(&s->candidate, t, i);
            better |= keep(s);
        }
    return better;
}

/* Two operations at once, of one thread or of two: a lock and its unlock, a spawn and a join. */
static bool remove_pair_with(struct shrinker *s, int t, int i)
{
    for (int u = t; u < s->m->thread_count; u++)
        for (int j = u == t ? i + 1 : 0; j < s->m->threads[u].length; j++) {
            s->candidate = *s->m;
            mz_edit_remove_op(&s->candidate, u, j);
            mz_edit_remove_op(&s->candidate, t, i);
            if (keep(s)) return true;
        }
    return false;
}

static bool remove_pairs(struct shrinker *s)
{
    for (int t = 0; t < s->m->thread_count; t++)
        for (int i = 0; i < s->m->threads[t].length; i++)
            if (remove_pair_with(s, t, i)) return true;
    return false;
}

static bool simplify_operand(struct shrinker *s, struct mz_model_operand *o)
{
    static const struct mz_model_operand simpler[] = {{0, 0}, {0, 1}};
    struct mz_model_operand was = *o;
    for (int i = 0; i < 2; i++) {
        if (!was.is_register && was.value >= 0 && was.value <= simpler[i].value) return false;
        s->candidate = *s->m;
        *o = simpler[i]; /* o is in the candidate */
        if (keep(s)) return true;
    }
    return false;
}

/* Return a simpler operation that can take the place of this one; MZ_MODEL_CODES: none. */
static enum mz_model_code simpler_code(uint8_t code)
{
    switch (code) {
    case MZ_MODEL_ADD:
    case MZ_MODEL_XCHG:
    case MZ_MODEL_CAS:
        return MZ_MODEL_WRITE;
    case MZ_MODEL_TRYLOCK:
        return MZ_MODEL_LOCK;
    case MZ_MODEL_BROADCAST:
        return MZ_MODEL_SIGNAL;
    case MZ_MODEL_TIMEDWAIT:
        return MZ_MODEL_WAIT;
    case MZ_MODEL_SEM_TRY:
        return MZ_MODEL_SEM_WAIT;
    case MZ_MODEL_TRYRDLOCK:
        return MZ_MODEL_RDLOCK;
    case MZ_MODEL_TRYWRLOCK:
        return MZ_MODEL_WRLOCK;
    case MZ_MODEL_FUTEX_TIMEDWAIT:
        return MZ_MODEL_FUTEX_WAIT;
    case MZ_MODEL_FUTEX_WAKE_ALL:
        return MZ_MODEL_FUTEX_WAKE;
    default:
        return MZ_MODEL_CODES;
    }
}

static bool simplify_op(struct shrinker *s, int t, int i)
{
    struct mz_model_op *op = &s->candidate.threads[t].ops[i];
    bool better = false;
    s->candidate = *s->m;
    if (simpler_code(op->code) != MZ_MODEL_CODES) {
        op->code = (uint8_t)simpler_code(op->code);
        op->result = MZ_MODEL_NOWHERE;
        better |= keep(s);
    }
    s->candidate = *s->m;
    if (op->result != MZ_MODEL_NOWHERE && op->code != MZ_MODEL_LET) {
        op->result = MZ_MODEL_NOWHERE;
        better |= keep(s);
    }
    s->candidate = *s->m;
    if (op->object > 0 && mz_model_kind_of(op->code) != MZ_MODEL_KINDS) {
        op->object = 0;
        better |= keep(s);
    }
    s->candidate = *s->m;
    if (op->code == MZ_MODEL_CHOOSE) {
        if (op->a.value <= 2) return better;
        op->a.value--;
        return keep(s) || better;
    }
    better |= simplify_operand(s, &op->a);
    s->candidate = *s->m;
    return simplify_operand(s, &op->b) || better;
}

static bool simplify_ops(struct shrinker *s)
{
    bool better = false;
    for (int t = 0; t < s->m->thread_count; t++)
        for (int i = 0; i < s->m->threads[t].length; i++) better |= simplify_op(s, t, i);
    return better;
}

static bool simplify_initial(struct shrinker *s)
{
    bool better = false;
    for (int kind = 0; kind < MZ_MODEL_KINDS; kind++)
        for (int i = 0; i < s->m->object_count[kind]; i++) {
            if (!s->m->initial[kind][i]) continue;
            s->candidate = *s->m;
            s->candidate.initial[kind][i] = 0;
            better |= keep(s);
        }
    return better;
}

void mz_shrink(struct mz_model *m, bool (*fails)(void *arg, const struct mz_model *m), void *arg)
{
    struct shrinker s = {.m = m, .fails = fails, .arg = arg};
    bool better = true;
    while (better) {
        better = remove_threads(&s);
        better |= remove_ops(&s);
        better |= simplify_ops(&s);
        better |= simplify_initial(&s);
        if (!better) better = remove_pairs(&s);
    }
}
