/* The parts of the plugin for gcc (gcc_plugin.cc). Include gcc_includes.h first. */
#ifndef MZ_COMPILER_GCC_PLUGIN_H
#define MZ_COMPILER_GCC_PLUGIN_H

/* gcc_hooks.cc: calls that the passes insert. size: a constant in bytes. */
enum mz_hook { MZ_HOOK_READ, MZ_HOOK_WRITE, MZ_HOOK_ATOMIC, MZ_HOOK_LOAD };
void mz_hook_range(gimple_stmt_iterator *before, tree address, tree size, mz_hook kind);
/* Inserts hooks before and after the statement, which must not end its basic block. */
void mz_hook_around(gimple_stmt_iterator *at, tree place, const char *before, const char *behind);
void mz_hook_place(gimple_stmt_iterator *before, tree place, mz_hook kind);
void mz_hook_fence(gimple_stmt_iterator *before, int order);
void mz_hook_masked(gimple_stmt_iterator *before, tree address, tree mask, tree lanes, bool write);
/* At the end of a block that decides whether an assertion fails. */
void mz_hook_assertion(basic_block decider, tree file, tree line);
tree mz_hook_value(gimple_stmt_iterator *before, tree expression);

/* Is the place private: a local variable whose address is not taken, or a constant? */
bool mz_is_private(tree place);

/* gcc_notes.cc: accesses that stay unseen are noted in the object. */
void mz_unseen_at(location_t where, const char *what, bool writes);
void mz_note_assertion(const char *file, unsigned line, const char *expression);
void mz_write_notes(void);

/* gcc_calls.cc, gcc_asm.cc: make the accesses of a statement visible to the pass tsan. */
void mz_show_call(gimple_stmt_iterator *at);
void mz_show_asm(gimple_stmt_iterator *at);
/* gcc_assertions.cc: the call is that of an assertion that fails, perhaps. */
void mz_show_assertion(gimple_stmt_iterator *at);
/* gcc_target.cc */
void mz_show_target_builtin(gimple_stmt_iterator *at);

#endif
