/* Builtins of x86 that access memory. Their declarations tell which: memory behind a pointer to const is
 * read, behind another pointer it is written. The vectors among the arguments and the result tell the size.
 * Other builtins are noted as unseen. */
#include "compiler/gcc_includes.h"
#include "compiler/gcc_plugin.h"

static bool has(const char *name, const char *part) { return strstr(name, part) != NULL; }

static bool is_pointer_argument(tree argument) { return POINTER_TYPE_P(TREE_TYPE(argument)); }

/* Returns the type that the declaration gives to argument i. */
static tree declared_type(tree function, unsigned i)
{
    tree types = TYPE_ARG_TYPES(TREE_TYPE(function));
    while (types && i--) types = TREE_CHAIN(types);
    return types ? TREE_VALUE(types) : NULL_TREE;
}

/* Returns the index of the only pointer among the arguments; -1: none, -2: several. */
static int find_pointer(gcall *call)
{
    int found = -1;
    for (unsigned i = 0; i < gimple_call_num_args(call); i++)
        if (is_pointer_argument(gimple_call_arg(call, i))) found = found == -1 ? (int)i : -2;
    return found;
}

static bool fits(tree type) { return TYPE_SIZE_UNIT(type) && tree_fits_uhwi_p(TYPE_SIZE_UNIT(type)); }

/* Returns the type that a builtin stores: that of its largest argument or, without one, the type that the
 * pointer points to. */
static tree stored_type(gcall *call, tree pointee)
{
    tree largest = NULL_TREE;
    for (unsigned i = 0; i < gimple_call_num_args(call); i++) {
        tree type = TREE_TYPE(gimple_call_arg(call, i));
        if (POINTER_TYPE_P(type) || !fits(type)) continue;
        if (!largest || tree_to_uhwi(TYPE_SIZE_UNIT(type)) > tree_to_uhwi(TYPE_SIZE_UNIT(largest)))
            largest = type;
    }
    return largest ? largest : pointee;
}

/* Returns the type that a builtin loads. lddqu has a pointer to char, loadups one to float; a broadcast reads
 * one element. */
static tree loaded_type(gcall *call, tree pointee, const char *name)
{
    tree result = TREE_TYPE(TREE_TYPE(gimple_call_fndecl(call)));
    if (VECTOR_TYPE_P(pointee) || has(name, "broadcast") || !VECTOR_TYPE_P(result)) return pointee;
    return result;
}

/* Returns the mask of a masked access: an integer argument, or the vector of integers before the data. */
static tree find_mask(gcall *call, int pointer)
{
    tree mask = NULL_TREE;
    for (unsigned i = 0; i < gimple_call_num_args(call); i++) {
        tree argument = gimple_call_arg(call, i);
        if ((int)i == pointer) continue;
        if (INTEGRAL_TYPE_P(TREE_TYPE(argument))) return argument;
        if (VECTOR_TYPE_P(TREE_TYPE(argument)) && INTEGRAL_TYPE_P(TREE_TYPE(TREE_TYPE(argument))) && !mask)
            mask = argument;
    }
    return mask;
}

static bool show_masked(gimple_stmt_iterator *at, gcall *call, int pointer, tree type, bool write)
{
    const char *name = IDENTIFIER_POINTER(DECL_NAME(gimple_call_fndecl(call)));
    tree mask = find_mask(call, pointer);
    if (has(name, "maskmovdqu") || has(name, "maskmovq")) mask = gimple_call_arg(call, 1);
    if (!mask || !VECTOR_TYPE_P(type) || !is_gimple_val(mask)) return false;
    mz_hook_masked(at, gimple_call_arg(call, (unsigned)pointer), mask, type, write);
    return true;
}

/* The arguments of these builtins do not tell which memory they access. */
static bool is_beyond_us(const char *name)
{
    static const char *const parts[] = {"gather",    "scatter", "compress", "expand",   "save",
                                        "rstor",     "enqcmd",  "movdir",   "cldemote", "tile",
                                        "encodekey", "aesenc",  "aesdec",   NULL};
    for (const char *const *p = parts; *p; p++)
        if (has(name, *p)) return true;
    return false;
}

void mz_show_target_builtin(gimple_stmt_iterator *at)
{
    gcall *call = as_a<gcall *>(gsi_stmt(*at));
    tree function = gimple_call_fndecl(call);
    const char *name = IDENTIFIER_POINTER(DECL_NAME(function));
    int pointer = find_pointer(call);
    if (pointer == -1) return;
    tree declared = pointer >= 0 ? declared_type(function, (unsigned)pointer) : NULL_TREE;
    if (!declared || !POINTER_TYPE_P(declared) || is_beyond_us(name)) {
        mz_unseen_at(gimple_location(call), ACONCAT((name, " accesses memory", NULL)), true);
        return;
    }
    tree pointee = TREE_TYPE(declared);
    if (VOID_TYPE_P(pointee)) return; /* clflush, prefetch, monitor */
    bool write = !TYPE_READONLY(pointee);
    tree type = write ? stored_type(call, pointee) : loaded_type(call, pointee, name);
    if (has(name, "mask") && show_masked(at, call, pointer, type, write)) return;
    if (has(name, "mask") || !fits(type))
        mz_unseen_at(gimple_location(call), ACONCAT((name, " accesses memory", NULL)), true);
    else
        mz_hook_range(at, gimple_call_arg(call, (unsigned)pointer), TYPE_SIZE_UNIT(type),
                      write ? MZ_HOOK_WRITE : MZ_HOOK_READ);
}
