/* ELF notes, by which a plugin tells the runtime about an object. The plugin writes them into the assembly;
 * the linker joins the sections .note.*, the loader maps them, and runtime/core/notes.c reads them. */
#ifndef MZ_COMPILER_NOTE_TEXT_H
#define MZ_COMPILER_NOTE_TEXT_H

#include <string>
#include "event/code_note.h"

static inline std::string mz_note_text(const std::string &text, int type)
{
    std::string quoted;
    for (char c : text) {
        if (c == '"' || c == '\\') quoted += '\\';
        quoted += c >= ' ' && c < 127 ? c : '?';
    }
    return "\t.pushsection .note.mazurka,\"a\",@note\n\t.balign 4\n\t.long 8, 9919f-9918f, " +
           std::to_string(type) + "\n\t.asciz \"" MZ_NOTE_NAME "\"\n9918:\t.asciz \"" + quoted +
           "\"\n9919:\t.balign 4\n\t.popsection\n";
}

#endif
