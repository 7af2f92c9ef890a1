/* Assertions: which are there, and which are reached.
 *
 * assert(e) calls __assert_fail only if e does not hold. So the pass inserts a hook where the decision is made, with the
 * file and the line that __assert_fail would get, and a note lists the assertion. The runtime reports the assertions that
 * are listed and whose hook was never called. An assertion without a condition that can be seen here is not listed: the
 * compiler has proved it, or has moved the call into a function of its own. */
#include "compiler/gcc_includes.h"
#include "compiler/gcc_plugin.h"

/* The text of a string constant; NULL: it is none. */
static const char *text_of(tree address)
{
    if (TREE_CODE(address) != ADDR_EXPR) return NULL;
    tree string = TREE_OPERAND(address, 0);
    if (TREE_CODE(string) == ARRAY_REF && integer_zerop(TREE_OPERAND(string, 1)))
        string = TREE_OPERAND(string, 0);
    return TREE_CODE(string) == STRING_CST ? TREE_STRING_POINTER(string) : NULL;
}

static bool is_empty(basic_block b)
{
    for (gimple_stmt_iterator at = gsi_start_nondebug_after_labels_bb(b); !gsi_end_p(at);
         gsi_next_nondebug(&at))
        return gimple_code(gsi_stmt(at)) == GIMPLE_NOP;
    return true;
}

/* The blocks that decide whether this one runs. Returns false if they are not known. */
static bool deciders(basic_block b, auto_vec<basic_block> *found, int depth)
{
    edge way;
    edge_iterator i;
    FOR_EACH_EDGE(way, i, b->preds)
    {
        basic_block from = way->src;
        if (from == ENTRY_BLOCK_PTR_FOR_FN(cfun) || (way->flags & EDGE_COMPLEX) || depth > 8) return false;
        if (!single_succ_p(from))
            found->safe_push(from);
        else if (!is_empty(from) || !deciders(from, found, depth + 1))
            return false;
    }
    return true;
}

void mz_show_assertion(gimple_stmt_iterator *at)
{
    gcall *call = as_a<gcall *>(gsi_stmt(*at));
    tree function = gimple_call_fndecl(call);
    if (!function || gimple_call_num_args(call) != 4) return;
    if (strcmp(IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(function)), "__assert_fail")) return;
    tree file = gimple_call_arg(call, 1), line = gimple_call_arg(call, 2);
    const char *expression = text_of(gimple_call_arg(call, 0)), *name = text_of(file);
    auto_vec<basic_block> blocks;
    if (!expression || !name || !tree_fits_uhwi_p(line) || !deciders(gimple_bb(call), &blocks, 0) ||
        blocks.is_empty())
        return;
    for (basic_block b : blocks) mz_hook_assertion(b, file, line);
    mz_note_assertion(name, (unsigned)tree_to_uhwi(line), expression);
}
