/* Inline assembly: its operands in memory get hooks, its fences too; the rest is noted as unseen.
 *
 * A locked instruction on an operand is an atomic read-modify-write. The hook before it is one visible
 * operation that changes nothing (__tsan_mz_atomic); no other thread runs between the hook and the
 * instruction. */
#include "gcc_includes.h"
#include "gcc_plugin.h"

#include "asm_text.h"

static bool may_be_memory(tree link)
{
    const char *constraint = TREE_STRING_POINTER(TREE_VALUE(TREE_PURPOSE(link)));
    tree operand = TREE_VALUE(link);
    if (is_gimple_reg(operand) || is_gimple_min_invariant(operand)) return false;
    return strpbrk(constraint, "moVg<>QX") != NULL || !is_gimple_reg_type(TREE_TYPE(operand));
}

static bool clobbers_memory(gasm *statement)
{
    for (unsigned i = 0; i < gimple_asm_nclobbers(statement); i++)
        if (!strcmp(TREE_STRING_POINTER(TREE_VALUE(gimple_asm_clobber_op(statement, i))), "memory"))
            return true;
    return false;
}

static void show_written(gimple_stmt_iterator *at, tree place, bool atomic)
{
    if (atomic && !stmt_ends_bb_p(gsi_stmt(*at)))
        mz_hook_around(at, place);
    else
        mz_hook_place(at, place, atomic ? MZ_HOOK_ATOMIC : MZ_HOOK_WRITE);
}

/* Returns the number of outputs in memory. */
static unsigned show_outputs(gimple_stmt_iterator *at, gasm *statement, bool atomic)
{
    unsigned written = 0;
    for (unsigned i = 0; i < gimple_asm_noutputs(statement); i++) {
        tree link = gimple_asm_output_op(statement, i);
        if (!may_be_memory(link)) continue;
        show_written(at, TREE_VALUE(link), atomic);
        written++;
    }
    return written;
}

/* An input "m"(x) is written, too, if the statement says only by "memory" that it writes. */
static void show_inputs(gimple_stmt_iterator *at, gasm *statement, bool written, bool atomic)
{
    for (unsigned i = 0; i < gimple_asm_ninputs(statement); i++) {
        tree link = gimple_asm_input_op(statement, i);
        if (!may_be_memory(link)) continue;
        if (!atomic) mz_hook_place(at, TREE_VALUE(link), MZ_HOOK_READ);
        if (written) show_written(at, TREE_VALUE(link), atomic);
    }
}

static void show_fences(gimple_stmt_iterator *at, const struct mz_asm_text *t)
{
    if (t->full_fence)
        mz_hook_fence(at, MEMMODEL_SEQ_CST);
    else if (t->load_fence && t->store_fence)
        mz_hook_fence(at, MEMMODEL_ACQ_REL);
    else if (t->load_fence)
        mz_hook_fence(at, MEMMODEL_ACQUIRE);
    else if (t->store_fence)
        mz_hook_fence(at, MEMMODEL_RELEASE);
}

void mz_show_asm(gimple_stmt_iterator *at)
{
    gasm *statement = as_a<gasm *>(gsi_stmt(*at));
    struct mz_asm_text t = mz_asm_text_read(gimple_asm_string(statement));
    location_t where = gimple_location(statement);
    show_fences(at, &t);
    if (!t.locked && !t.writes_operands && !t.writes_elsewhere && !t.reads_elsewhere && !t.reads_operands)
        return;
    unsigned outputs = show_outputs(at, statement, t.locked);
    bool inputs = t.writes_operands && !outputs && clobbers_memory(statement);
    show_inputs(at, statement, inputs, t.locked);
    if (t.writes_elsewhere && t.locked)
        mz_unseen_at(where, "inline assembly changes memory atomically", true);
    else if (t.writes_elsewhere)
        mz_unseen_at(where, "inline assembly writes memory", true);
    else if (t.reads_elsewhere)
        mz_unseen_at(where, "inline assembly reads memory", false);
}
