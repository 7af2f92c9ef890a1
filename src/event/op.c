/* The table of operations, from op.def. */
#include "event/op.h"

#include <stddef.h>

const struct mz_op_info mz_ops[MZ_OP_COUNT] = {
#define OP(name_, text_, when_, object_, access_, needs_, traits_, ...)                                      \
    [MZ_OP_##name_] = {.text = text_,                                                                        \
                       .when = MZ_WHEN_##when_,                                                              \
                       .object = MZ_OBJECT_##object_,                                                        \
                       .access = MZ_##access_,                                                               \
                       .needs = MZ_NEEDS_##needs_,                                                           \
                       .traits = traits_,                                                                    \
                       __VA_ARGS__},
#include "event/op.def"
};

const struct mz_object_info mz_object_kinds[MZ_OBJECT_COUNT] = {
#define OBJECT(name, named, itself, held) [MZ_OBJECT_##name] = {MZ_NAMED_##named, itself, held},
#include "event/op.def"
};

const struct mz_op_info *mz_op_info(unsigned op) { return &mz_ops[op < MZ_OP_COUNT ? op : MZ_OP_NONE]; }

const char *mz_op_name(enum mz_op op) { return (unsigned)op < MZ_OP_COUNT ? mz_ops[op].text : "?"; }
