/* Accesses that the plugin cannot make visible: one ELF note for each place (note_text.h). */
#include <set>
#include <string>
#include "compiler/gcc_includes.h"
#include "compiler/gcc_plugin.h"

#include "compiler/note_text.h"

static std::set<std::string> notes;

void mz_unseen_at(location_t where, const char *what, bool writes)
{
    expanded_location at = expand_location(where);
    std::string text = at.file ? at.file : main_input_filename ? main_input_filename : "?";
    if (at.line) text += ":" + std::to_string(at.line);
    notes.insert(mz_note_text(text + ": " + what, writes ? MZ_NOTE_WRITES : MZ_NOTE_READS));
}

void mz_note_assertion(const char *file, unsigned line, const char *expression)
{
    notes.insert(
        mz_note_text(std::string(file) + ":" + std::to_string(line) + ": " + expression, MZ_NOTE_ASSERTION));
}

void mz_write_notes(void)
{
    if (!asm_out_file) return;
    fputs(mz_note_text("", MZ_NOTE_PLUGIN).c_str(), asm_out_file);
    for (const std::string &note : notes) fputs(note.c_str(), asm_out_file);
    notes.clear();
}
