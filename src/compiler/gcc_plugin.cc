/* A plugin for gcc: makes accesses visible that gcc's pass tsan does not see.
 *
 * The pass tsan calls a hook for each assignment that loads or stores, and for atomic builtins. It ignores
 * calls and inline assembly. So our pass runs before it and rewrites
 *
 *     LHS = call (ARGUMENTS)      a structure that a call stores, structures passed by value: each gets a
 *                                 temporary, and an assignment that tsan sees            (gcc_calls.cc)
 *     __builtin_memcpy (...)      and the like, which gcc expands in line: a call of the library's function,
 *                                 which is hooked                                        (gcc_calls.cc)
 *     __builtin_ia32_... (p, ..)  masked and other stores of the target: hooks before it (gcc_target.cc)
 *     asm ("..." : "=m" (x))      hooks for operands in memory, and for fences           (gcc_asm.cc)
 *     if (!e) __assert_fail (...) a hook where it is decided, in a pass of its own before all
 *                                 optimizations                                          (gcc_assertions.cc)
 *
 * Functions with the attribute no_sanitize_thread lose it: they are checked like others. Accesses that stay
 * unseen are noted in the object (gcc_notes.cc).
 *
 * A plugin fits exactly one version of gcc: `mazurka cc` passes it only if a trial compilation works, and
 * plugin_init refuses any other version. */
#include "compiler/gcc_includes.h"
#include "compiler/gcc_plugin.h"

#include "compiler/asm_text.h"
#include "plugin-version.h"

int plugin_is_GPL_compatible;

namespace
{

const pass_data show_data = {GIMPLE_PASS, "mazurka_show", OPTGROUP_NONE, TV_NONE, PROP_ssa | PROP_cfg, 0, 0,
                             0,           TODO_update_ssa};

bool is_instrumented(tree function) { return sanitize_flags_p(SANITIZE_THREAD, function); }

void show(gimple_stmt_iterator *at)
{
    gimple *statement = gsi_stmt(*at);
    if (is_gimple_call(statement)) mz_show_call(at);
    if (gimple_code(statement) == GIMPLE_ASM) mz_show_asm(at);
}

const pass_data assertions_data = {
    GIMPLE_PASS, "mazurka_assertions", OPTGROUP_NONE, TV_NONE, PROP_ssa | PROP_cfg, 0, 0, 0, TODO_update_ssa};

/* Before all optimizations: a hook stays where an assertion has been proved, or is decided in several places. */
class assertions_pass : public gimple_opt_pass
{
  public:
    explicit assertions_pass(gcc::context *context) : gimple_opt_pass(assertions_data, context) {}
    opt_pass *clone() override { return new assertions_pass(m_ctxt); }
    bool gate(function *f) override { return is_instrumented(f->decl); }
    unsigned execute(function *f) override
    {
        basic_block block;
        FOR_EACH_BB_FN(block, f)
        for (gimple_stmt_iterator at = gsi_start_bb(block); !gsi_end_p(at); gsi_next(&at))
            if (is_gimple_call(gsi_stmt(at)) && !gimple_call_internal_p(gsi_stmt(at))) mz_show_assertion(&at);
        return 0;
    }
};

class show_pass : public gimple_opt_pass
{
  public:
    show_pass(gcc::context *context, bool at_O0) : gimple_opt_pass(show_data, context), at_O0(at_O0) {}
    opt_pass *clone() override { return new show_pass(m_ctxt, at_O0); }
    /* The pass tsan runs once: among the optimizations, or as tsan0 without optimization. */
    bool gate(function *f) override { return is_instrumented(f->decl) && at_O0 == !optimize; }
    unsigned execute(function *f) override
    {
        basic_block block;
        /* Inserting statements on edges after calls makes new blocks: collect the blocks first. */
        auto_vec<basic_block> blocks;
        FOR_EACH_BB_FN(block, f) blocks.safe_push(block);
        for (basic_block b : blocks)
            for (gimple_stmt_iterator at = gsi_start_bb(b); !gsi_end_p(at); gsi_next(&at)) show(&at);
        return 0;
    }

  private:
    bool at_O0;
};

void insert_before(const char *plugin, const char *pass, bool at_O0)
{
    struct register_pass_info info = {new show_pass(g, at_O0), pass, 0, PASS_POS_INSERT_BEFORE};
    register_callback(plugin, PLUGIN_PASS_MANAGER_SETUP, NULL, &info);
}

/* The value of the attribute no_sanitize is a set of sanitizers. */
void drop_no_sanitize(tree function)
{
    tree attribute = lookup_attribute("no_sanitize", DECL_ATTRIBUTES(function));
    if (!attribute || !TREE_VALUE(attribute)) return;
    unsigned flags = tree_to_uhwi(TREE_VALUE(attribute));
    TREE_VALUE(attribute) = build_int_cst(unsigned_type_node, flags & ~SANITIZE_THREAD);
}

void note_outside(const asm_node *a)
{
    bool writes;
    const char *what = mz_asm_outside(TREE_STRING_POINTER(a->asm_str), &writes);
    if (what) mz_unseen_at(UNKNOWN_LOCATION, what, writes);
}

void before_ipa(void *, void *)
{
    cgraph_node *node;
    if (!(flag_sanitize & SANITIZE_THREAD)) return;
    FOR_EACH_FUNCTION(node) drop_no_sanitize(node->decl);
    for (asm_node *a = symtab->first_asm_symbol(); a; a = a->next) note_outside(a);
}

void at_end(void *, void *) { mz_write_notes(); }

} // namespace

int plugin_init(struct plugin_name_args *plugin, struct plugin_gcc_version *version)
{
    if (!plugin_default_version_check(version, &gcc_version)) return 1;
    struct register_pass_info assertions = {new assertions_pass(g), "ssa", 1, PASS_POS_INSERT_AFTER};
    register_callback(plugin->base_name, PLUGIN_PASS_MANAGER_SETUP, NULL, &assertions);
    insert_before(plugin->base_name, "tsan", false);
    insert_before(plugin->base_name, "tsan0", true);
    register_callback(plugin->base_name, PLUGIN_ALL_IPA_PASSES_START, before_ipa, NULL);
    register_callback(plugin->base_name, PLUGIN_FINISH_UNIT, at_end, NULL);
    return 0;
}
