/* Changes a model, see edit.h. If an object, thread or operation moves, all its numbers in the model are
 * updated. */
#include "edit.h"

#include <string.h>

void mz_edit_remove_op(struct mz_model *m, int thread, int index)
{
    struct mz_model_thread *t = &m->threads[thread];
    t->length--;
    memmove(&t->ops[index], &t->ops[index + 1], (size_t)(t->length - index) * sizeof *t->ops);
    for (int i = 0; i < t->length; i++)
        if (mz_model_jumps(t->ops[i].code) && t->ops[i].target > index) t->ops[i].target--;
}

static int names_thread(const struct mz_model_op *op)
{
    return op->code == MZ_MODEL_SPAWN || op->code == MZ_MODEL_JOIN;
}

void mz_edit_remove_thread(struct mz_model *m, int thread)
{
    for (int t = 0; t < m->thread_count; t++)
        for (int i = m->threads[t].length; i-- > 0;) {
            struct mz_model_op *op = &m->threads[t].ops[i];
            if (!names_thread(op)) continue;
            if (op->object == thread)
                mz_edit_remove_op(m, t, i);
            else if (op->object > thread)
                op->object--;
        }
    m->thread_count--;
    memmove(&m->threads[thread], &m->threads[thread + 1],
            (size_t)(m->thread_count - thread) * sizeof *m->threads);
}

/* Removes a jump backward, if there is one. */
static int open_loop(struct mz_model *m)
{
    for (int t = 0; t < m->thread_count; t++)
        for (int i = 0; i < m->threads[t].length; i++) {
            const struct mz_model_op *op = &m->threads[t].ops[i];
            if (op->code != MZ_MODEL_IF || op->target > i) continue;
            mz_edit_remove_op(m, t, i);
            return 1;
        }
    return 0;
}

void mz_edit_repair(struct mz_model *m)
{
    while (mz_model_check(m) && open_loop(m)) {
    }
}

/* Finds the objects that an operation names: up to two fields, with their kinds. */
static int objects_of(struct mz_model_op *op, uint8_t *field[2], enum mz_model_kind kind[2])
{
    field[0] = &op->object;
    kind[0] = mz_model_kind_of(op->code);
    if (kind[0] == MZ_MODEL_KINDS) return 0;
    field[1] = &op->mutex;
    kind[1] = mz_model_is_joint(op) ? MZ_MODEL_VAR : MZ_MODEL_MUTEX;
    return mz_model_has_mutex(op->code) || mz_model_is_joint(op) ? 2 : 1;
}

/* Does any operation name the object? If `remove`, renumbers the objects above it. */
static int uses(struct mz_model *m, enum mz_model_kind kind, int object, int remove)
{
    int used = 0;
    for (int t = 0; t < m->thread_count; t++)
        for (int i = 0; i < m->threads[t].length; i++) {
            uint8_t *field[2];
            enum mz_model_kind kinds[2];
            for (int n = objects_of(&m->threads[t].ops[i], field, kinds); n-- > 0;) {
                if (kinds[n] != kind) continue;
                used |= *field[n] == object;
                if (remove && *field[n] > object) --*field[n];
            }
        }
    return used;
}

void mz_edit_remove_unused(struct mz_model *m)
{
    for (int kind = 0; kind < MZ_MODEL_KINDS; kind++)
        for (int i = m->object_count[kind]; i-- > 0;) {
            if (uses(m, (enum mz_model_kind)kind, i, 0)) continue;
            uses(m, (enum mz_model_kind)kind, i, 1);
            m->object_count[kind]--;
            size_t behind = (size_t)(m->object_count[kind] - i);
            memmove(&m->initial[kind][i], &m->initial[kind][i + 1], behind * sizeof m->initial[kind][i]);
            memmove(&m->name[kind][i], &m->name[kind][i + 1], behind * sizeof m->name[kind][i]);
            m->initial[kind][m->object_count[kind]] = 0;
        }
}

int mz_edit_size(const struct mz_model *m)
{
    int size = 0;
    for (int t = 0; t < m->thread_count; t++) size += m->threads[t].length;
    return size;
}
