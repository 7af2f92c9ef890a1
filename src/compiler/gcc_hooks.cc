/* Calls of the hooks, as GIMPLE: see gcc_plugin.h. */
#include "compiler/gcc_includes.h"
#include "compiler/gcc_plugin.h"

static tree declare(const char *name, tree type)
{
    tree function = build_fn_decl(name, type);
    TREE_NOTHROW(function) = 1;
    return function;
}

tree mz_hook_value(gimple_stmt_iterator *before, tree expression)
{
    return force_gimple_operand_gsi(before, expression, true, NULL_TREE, true, GSI_SAME_STMT);
}

static void insert(gimple_stmt_iterator *before, gimple *call)
{
    gimple_set_location(call, gimple_location(gsi_stmt(*before)));
    gsi_insert_before(before, call, GSI_SAME_STMT);
}

void mz_hook_range(gimple_stmt_iterator *before, tree address, tree size, mz_hook kind)
{
    static const char *const names[] = {"__tsan_read_range", "__tsan_write_range", "__tsan_mz_atomic",
                                        "__tsan_mz_load"};
    tree type = build_function_type_list(void_type_node, ptr_type_node, size_type_node, NULL_TREE);
    address = mz_hook_value(before, fold_convert(ptr_type_node, address));
    size = mz_hook_value(before, fold_convert(size_type_node, size));
    insert(before, gimple_build_call(declare(names[kind], type), 2, address, size));
}

/* Returns the address of a place that other threads may know; NULL_TREE if it has no address of its own (a
 * register variable, a bit-field). */
static tree address_of(tree place)
{
    tree base = get_base_address(place);
    bool bits = TREE_CODE(place) == BIT_FIELD_REF ||
                (TREE_CODE(place) == COMPONENT_REF && DECL_BIT_FIELD(TREE_OPERAND(place, 1)));
    if (bits || !TYPE_SIZE_UNIT(TREE_TYPE(place)) || !base || is_gimple_reg(place) || mz_is_private(place))
        return NULL_TREE;
    if (DECL_P(base)) TREE_ADDRESSABLE(base) = 1;
    return build_fold_addr_expr(unshare_expr(place));
}

void mz_hook_place(gimple_stmt_iterator *before, tree place, mz_hook kind)
{
    tree address = address_of(place);
    if (address) mz_hook_range(before, address, TYPE_SIZE_UNIT(TREE_TYPE(place)), kind);
}

void mz_hook_around(gimple_stmt_iterator *at, tree place, const char *before, const char *behind)
{
    tree type = build_function_type_list(void_type_node, ptr_type_node, size_type_node, NULL_TREE);
    tree address = address_of(place);
    if (!address) return;
    address = mz_hook_value(at, fold_convert(ptr_type_node, address));
    tree size = fold_convert(size_type_node, TYPE_SIZE_UNIT(TREE_TYPE(place)));
    insert(at, gimple_build_call(declare(before, type), 2, address, size));
    gimple *end = gimple_build_call(declare(behind, type), 2, address, size);
    gimple_set_location(end, gimple_location(gsi_stmt(*at)));
    gsi_insert_after(at, end, GSI_SAME_STMT);
}

void mz_hook_fence(gimple_stmt_iterator *before, int order)
{
    tree type = build_function_type_list(void_type_node, integer_type_node, NULL_TREE);
    tree argument = build_int_cst(integer_type_node, order);
    insert(before, gimple_build_call(declare("__tsan_atomic_thread_fence", type), 1, argument));
}

void mz_hook_assertion(basic_block decider, tree file, tree line)
{
    tree type = build_function_type_list(void_type_node, const_ptr_type_node, unsigned_type_node, NULL_TREE);
    gimple *call = gimple_build_call(declare("__tsan_mz_assertion", type), 2, unshare_expr(file),
                                     fold_convert(unsigned_type_node, line));
    gimple_stmt_iterator end = gsi_last_bb(decider);
    if (gsi_end_p(end)) return;
    gimple_set_location(call, gimple_location(gsi_stmt(end)));
    if (stmt_ends_bb_p(gsi_stmt(end)))
        gsi_insert_before(&end, call, GSI_SAME_STMT);
    else
        gsi_insert_after(&end, call, GSI_SAME_STMT);
}

/* A mask is a vector, whose lanes have their highest bit set where memory is accessed, or an integer with a
 * bit for each lane. `lanes` is the type of the vector in memory. */
void mz_hook_masked(gimple_stmt_iterator *before, tree address, tree mask, tree lanes, bool write)
{
    tree type = build_function_type_list(void_type_node, ptr_type_node, ptr_type_node, size_type_node,
                                         size_type_node, integer_type_node, NULL_TREE);
    tree kept = create_tmp_var(TREE_TYPE(mask), "mazurka_mask");
    TREE_ADDRESSABLE(kept) = 1;
    insert(before, gimple_build_assign(kept, mask));
    uint64_t count = TYPE_VECTOR_SUBPARTS(lanes).to_constant();
    bool bits = !VECTOR_TYPE_P(TREE_TYPE(mask));
    int flags = (write ? 1 : 0) | (bits ? 2 : 0);
    address = mz_hook_value(before, fold_convert(ptr_type_node, address));
    insert(before, gimple_build_call(declare("__tsan_mz_masked", type), 5, address,
                                     build_fold_addr_expr(kept), TYPE_SIZE_UNIT(TREE_TYPE(lanes)),
                                     build_int_cst(size_type_node, (HOST_WIDE_INT)count),
                                     build_int_cst(integer_type_node, flags)));
}

bool mz_is_private(tree place)
{
    tree base = get_base_address(place);
    if (!base) return false;
    if (TREE_READONLY(base) || (VAR_P(base) && DECL_HARD_REGISTER(base))) return true;
    return DECL_P(base) && !is_global_var(base) && !may_be_aliased(base);
}
