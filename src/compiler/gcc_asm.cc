/* Inline assembly: its operands in memory and its fences get hooks; the rest is noted as unseen.
 *
 * A volatile statement with only one mov from or to a word in memory is an atomic load or store. A locked
 * instruction on an operand is an atomic read-modify-write. The hook before it is one visible operation that
 * changes nothing (__tsan_mz_atomic); no other thread runs between the hook and the instruction. */
#include "compiler/gcc_includes.h"
#include "compiler/gcc_plugin.h"

#include "compiler/asm_text.h"

static bool may_be_memory(tree link)
{
    const char *constraint = TREE_STRING_POINTER(TREE_VALUE(TREE_PURPOSE(link)));
    tree operand = TREE_VALUE(link);
    if (is_gimple_reg(operand) || is_gimple_min_invariant(operand)) return false;
    return strpbrk(constraint, "moVg<>QX") != NULL || !is_gimple_reg_type(TREE_TYPE(operand));
}

/* An output "=r" (x) may also be a variable in memory: after the instruction, the register is stored
 * there. */
static bool is_stored(tree link)
{
    tree operand = TREE_VALUE(link);
    return !may_be_memory(link) && !is_gimple_reg(operand) && !mz_is_private(operand);
}

static void show_written(gimple_stmt_iterator *at, tree place, bool atomic)
{
    if (atomic && !stmt_ends_bb_p(gsi_stmt(*at)))
        mz_hook_around(at, place, "__tsan_mz_atomic_begin", "__tsan_mz_atomic_end");
    else
        mz_hook_place(at, place, atomic ? MZ_HOOK_ATOMIC : MZ_HOOK_WRITE);
}

/* asm ("..." : "=r" (x)) becomes asm ("..." : "=r" (T)); x = T. */
static void store_outputs(gimple_stmt_iterator *at, gasm *statement)
{
    for (unsigned i = 0; i < gimple_asm_noutputs(statement); i++) {
        tree link = gimple_asm_output_op(statement, i), to = TREE_VALUE(link);
        if (!is_stored(link)) continue;
        if (stmt_ends_bb_p(statement)) {
            mz_hook_place(at, to, MZ_HOOK_WRITE);
            continue;
        }
        tree kept = make_ssa_name(TYPE_MAIN_VARIANT(TREE_TYPE(to)), statement);
        gimple *store = gimple_build_assign(to, kept);
        gimple_set_location(store, gimple_location(statement));
        TREE_VALUE(link) = kept;
        update_stmt(statement);
        gsi_insert_after(at, store, GSI_SAME_STMT);
    }
}

static void show_outputs(gimple_stmt_iterator *at, gasm *statement, bool atomic)
{
    for (unsigned i = 0; i < gimple_asm_noutputs(statement); i++) {
        tree link = gimple_asm_output_op(statement, i);
        if (may_be_memory(link)) show_written(at, TREE_VALUE(link), atomic);
    }
}

/* An input "m" (x) is written, too, if the text writes it. */
static void show_inputs(gimple_stmt_iterator *at, gasm *statement, const struct mz_asm_text *t)
{
    for (unsigned i = 0; i < gimple_asm_ninputs(statement); i++) {
        tree link = gimple_asm_input_op(statement, i);
        if (!may_be_memory(link)) continue;
        if (!t->locked) mz_hook_place(at, TREE_VALUE(link), MZ_HOOK_READ);
        if (mz_asm_writes(t, gimple_asm_noutputs(statement) + i))
            show_written(at, TREE_VALUE(link), t->locked);
    }
}

static bool is_word(tree place)
{
    tree size = TYPE_SIZE_UNIT(TREE_TYPE(place));
    return size && tree_fits_uhwi_p(size) && tree_to_uhwi(size) <= 8 && pow2p_hwi(tree_to_uhwi(size));
}

/* A volatile mov from or to a place in memory, and nothing else: an atomic load or store. */
static bool show_mov(gimple_stmt_iterator *at, gasm *statement, const struct mz_asm_text *t)
{
    tree output = NULL_TREE, input = NULL_TREE;
    unsigned places = 0, number = 0;
    if (!t->one_mov || !gimple_asm_volatile_p(statement) || stmt_ends_bb_p(statement)) return false;
    for (unsigned i = 0; i < gimple_asm_noutputs(statement); i++)
        if (may_be_memory(gimple_asm_output_op(statement, i)))
            output = TREE_VALUE(gimple_asm_output_op(statement, i)), places++;
    for (unsigned i = 0; i < gimple_asm_ninputs(statement); i++)
        if (may_be_memory(gimple_asm_input_op(statement, i))) {
            input = TREE_VALUE(gimple_asm_input_op(statement, i)), places++;
            number = gimple_asm_noutputs(statement) + i;
        }
    if (places != 1 || !is_word(output ? output : input)) return false;
    if (output || mz_asm_writes(t, number))
        mz_hook_around(at, output ? output : input, "__tsan_mz_store_begin", "__tsan_mz_store_end");
    else
        mz_hook_place(at, input, MZ_HOOK_LOAD);
    return true;
}

/* Is the number of the bit a constant, and a bit of each operand in memory? */
static bool is_bit_inside(gasm *statement)
{
    unsigned HOST_WIDE_INT smallest = ~(unsigned HOST_WIDE_INT)0;
    for (unsigned i = 0; i < gimple_asm_noutputs(statement); i++) {
        tree link = gimple_asm_output_op(statement, i), size = TYPE_SIZE_UNIT(TREE_TYPE(TREE_VALUE(link)));
        if (may_be_memory(link) && size && tree_fits_uhwi_p(size))
            smallest = MIN(smallest, 8 * tree_to_uhwi(size));
    }
    for (unsigned i = 0; i < gimple_asm_ninputs(statement); i++) {
        tree link = gimple_asm_input_op(statement, i), operand = TREE_VALUE(link);
        if (may_be_memory(link)) continue;
        if (!tree_fits_uhwi_p(operand) || tree_to_uhwi(operand) >= smallest) return false;
    }
    return true;
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
    if (lookup_attribute("naked", DECL_ATTRIBUTES(current_function_decl))) { /* a hook cannot be called
                                                                              * there */
        mz_unseen_at(where, "assembly of a naked function", true);
        return;
    }
    show_fences(at, &t);
    store_outputs(at, statement);
    if (!t.locked && !t.writes_operands && !t.writes_elsewhere && !t.reads_elsewhere && !t.reads_operands)
        return;
    if (!show_mov(at, statement, &t)) {
        show_outputs(at, statement, t.locked);
        show_inputs(at, statement, &t);
    }
    if (t.any_bit && !is_bit_inside(statement))
        mz_unseen_at(where, "inline assembly changes a bit, perhaps beyond its operand", true);
    if (t.writes_elsewhere && t.locked)
        mz_unseen_at(where, "inline assembly changes memory atomically", true);
    else if (t.writes_elsewhere)
        mz_unseen_at(where, "inline assembly writes memory", true);
    else if (t.reads_elsewhere)
        mz_unseen_at(where, "inline assembly reads memory", false);
}
