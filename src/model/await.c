/* A model as a system under test: the conditions of awaits. See system.c. */
#include <string.h>
#include "model/state.h"

static bool compare(int a, uint8_t relation, int b)
{
    switch (relation) {
    case MZ_MODEL_EQ:
        return a == b;
    case MZ_MODEL_NE:
        return a != b;
    case MZ_MODEL_LT:
        return a < b;
    default:
        return a > b;
    }
}

bool mz_model_condition(const struct mz_model_explorer *s, int t, const mz_model_value *vars)
{
    const struct mz_model_op *op = mz_model_op_of(s, t);
    const struct mz_model_runner *self = &s->threads[t];
    bool one = compare(vars[op->object], op->relation, mz_model_value_of(self, &op->a));
    if (op->joint == MZ_MODEL_ALONE) return one;
    bool other = compare(vars[op->mutex], op->relation2, mz_model_value_of(self, &op->b));
    return op->joint == MZ_MODEL_AND ? one && other : one || other;
}

uint32_t mz_model_awaited(const struct mz_model_op *op)
{
    uint64_t set = mz_model_bit(op->object);
    if (mz_model_is_joint(op)) set |= mz_model_bit(op->mutex);
    return (uint32_t)set;
}

/* A callback of the engine. */
bool mz_model_holds(void *system, int t, const struct mz_unwritten *writes, uint32_t count)
{
    const struct mz_model_explorer *s = system;
    mz_model_value vars[MZ_MODEL_OBJECTS];
    memcpy(vars, s->vars, sizeof vars);
    for (uint32_t i = 0; i < count; i++) {
        int v = 0;
        while (mz_model_key(MZ_MODEL_VAR, v) != writes[i].key) v++;
        vars[v] = (mz_model_value)(writes[i].adds ? (uint64_t)vars[v] - writes[i].value : writes[i].value);
    }
    return mz_model_condition(s, t, vars);
}
