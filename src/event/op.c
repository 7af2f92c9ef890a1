#include "op.h"

const char *mz_op_name(enum mz_op op)
{
    static const char *const names[] = {
#define OP(name, text, when) text,
#include "op.def"
#undef OP
    };
    return (unsigned)op < MZ_OP_COUNT ? names[op] : "?";
}
