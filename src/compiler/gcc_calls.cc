/* Calls whose accesses the pass tsan does not see: see gcc_plugin.cc. */
#include "compiler/gcc_includes.h"
#include "compiler/gcc_plugin.h"

/* ---- structures that a call stores or passes ---- */

static bool can_be_copied(tree place)
{
    tree type = TREE_TYPE(place);
    return !TREE_ADDRESSABLE(type) && TYPE_SIZE_UNIT(type) && tree_fits_uhwi_p(TYPE_SIZE_UNIT(type));
}

/* Inserts the assignment after the call. If the call ends its basic block because it may throw, inserts it on
 * the edge without an exception. */
static void insert_behind(gimple_stmt_iterator *at, gimple *assign)
{
    gimple *call = gsi_stmt(*at);
    gimple_set_location(assign, gimple_location(call));
    if (!stmt_ends_bb_p(call)) {
        gsi_insert_after(at, assign, GSI_SAME_STMT);
        return;
    }
    edge way = find_fallthru_edge(gimple_bb(call)->succs);
    if (way) gsi_insert_on_edge_immediate(way, assign);
}

/* LHS = call() becomes T = call(); LHS = T. A class that must not be copied bitwise (TREE_ADDRESSABLE) needs
 * nothing: the callee builds it through a pointer, with hooks. */
static void show_result(gimple_stmt_iterator *at)
{
    gcall *call = as_a<gcall *>(gsi_stmt(*at));
    tree to = gimple_call_lhs(call);
    if (!to || is_gimple_reg(to) || mz_is_private(to) || gimple_call_internal_p(call)) return;
    if (TREE_ADDRESSABLE(TREE_TYPE(to))) return;
    if (!can_be_copied(to)) {
        mz_unseen_at(gimple_location(call), "a call stores an object of variable size", true);
        return;
    }
    tree type = TYPE_MAIN_VARIANT(TREE_TYPE(to));
    tree kept = is_gimple_reg_type(type) ? make_ssa_name(type, call) : create_tmp_var(type, "mazurka_result");
    gimple_call_set_lhs(call, kept);
    gimple_call_set_return_slot_opt(call, false);
    update_stmt(call);
    insert_behind(at, gimple_build_assign(to, kept));
}

/* call(PLACE) becomes T = PLACE; call(T). */
static void show_arguments(gimple_stmt_iterator *at)
{
    gcall *call = as_a<gcall *>(gsi_stmt(*at));
    if (gimple_call_internal_p(call)) return;
    for (unsigned i = 0; i < gimple_call_num_args(call); i++) {
        tree from = gimple_call_arg(call, i);
        if (is_gimple_reg_type(TREE_TYPE(from)) || !is_gimple_lvalue(from) || mz_is_private(from)) continue;
        if (!can_be_copied(from)) continue;
        if (cfun->can_throw_non_call_exceptions && tree_could_trap_p(from)) {
            mz_unseen_at(gimple_location(call), "a structure that a call passes is read", false);
            continue;
        }
        tree kept = create_tmp_var(TYPE_MAIN_VARIANT(TREE_TYPE(from)), "mazurka_argument");
        gimple *assign = gimple_build_assign(kept, from);
        gimple_set_location(assign, gimple_location(call));
        gsi_insert_before(at, assign, GSI_SAME_STMT);
        gimple_call_set_arg(call, i, kept);
        update_stmt(call);
    }
}

/* ---- builtins that gcc would expand in line ---- */

/* Does libc have a function of that name, which libmazurka hooks? */
static bool is_library_function(enum built_in_function code)
{
    switch (code) {
    case BUILT_IN_MEMCPY:
    case BUILT_IN_MEMMOVE:
    case BUILT_IN_MEMPCPY:
    case BUILT_IN_MEMSET:
    case BUILT_IN_MEMCMP:
    case BUILT_IN_MEMCHR:
    case BUILT_IN_BCMP:
    case BUILT_IN_BCOPY:
    case BUILT_IN_BZERO:
    case BUILT_IN_STRCPY:
    case BUILT_IN_STPCPY:
    case BUILT_IN_STRNCPY:
    case BUILT_IN_STPNCPY:
    case BUILT_IN_STRCAT:
    case BUILT_IN_STRNCAT:
    case BUILT_IN_STRLEN:
    case BUILT_IN_STRNLEN:
    case BUILT_IN_STRCMP:
    case BUILT_IN_STRNCMP:
    case BUILT_IN_STRCHR:
    case BUILT_IN_STRRCHR:
    case BUILT_IN_STRSTR:
    case BUILT_IN_STRSPN:
    case BUILT_IN_STRCSPN:
    case BUILT_IN_STRPBRK:
    case BUILT_IN_STRDUP:
    case BUILT_IN_STRNDUP:
        return true;
    default:
        return false;
    }
}

/* Replaces the builtin by an ordinary function of the same name, which gcc does not expand. What gcc knows
 * about the memory that the builtin uses does not hold for the function: without the reset, gcc could remove
 * stores to it as dead. A memcmp whose result is only compared with 0 has a builtin of its own, which no
 * library has. */
static void call_library(gcall *call, tree builtin)
{
    enum built_in_function code = DECL_FUNCTION_CODE(builtin);
    if (code == BUILT_IN_MEMCMP_EQ) code = BUILT_IN_MEMCMP;
    if (!is_library_function(code)) return;
    tree known = builtin_decl_explicit(code);
    tree function = build_fn_decl(IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(known)), TREE_TYPE(known));
    TREE_NOTHROW(function) = 1;
    gimple_call_set_fndecl(call, function);
    gimple_call_reset_alias_info(call);
    update_stmt(call);
}

/* Internal functions that -Og makes before the pass tsan: bit operations on an atomic object. */
static void show_internal(gimple_stmt_iterator *at)
{
    gcall *call = as_a<gcall *>(gsi_stmt(*at));
    const char *name = internal_fn_name(gimple_call_internal_fn(call));
    if (!name || !startswith(name, "ATOMIC_") || !gimple_call_num_args(call)) return;
    tree address = gimple_call_arg(call, 0);
    tree size = TYPE_SIZE_UNIT(TREE_TYPE(TREE_TYPE(address)));
    if (gimple_call_lhs(call) && !size) size = TYPE_SIZE_UNIT(TREE_TYPE(gimple_call_lhs(call)));
    if (size) mz_hook_range(at, address, size, MZ_HOOK_ATOMIC);
}

void mz_show_call(gimple_stmt_iterator *at)
{
    gcall *call = as_a<gcall *>(gsi_stmt(*at));
    if (gimple_call_internal_p(call)) {
        show_internal(at);
        return;
    }
    tree function = gimple_call_fndecl(call);
    if (function && fndecl_built_in_p(function, BUILT_IN_NORMAL)) call_library(call, function);
    if (function && fndecl_built_in_p(function, BUILT_IN_MD)) mz_show_target_builtin(at);
    show_arguments(at);
    show_result(at);
}
