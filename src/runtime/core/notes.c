/* Reads the notes of our compiler plug-in in the program's modules: they list code without hooks
 * (event/code_note.h). Called by load.c. */
#include <elf.h>
#include "event/code_note.h"
#include "runtime/core/runtime.h"
#include "runtime/hooks/hooks.h"
#include "runtime/loops/loops.h"

/* Inline functions and templates are compiled several times. */
static void add_assertion(const char *text)
{
    struct mz_channel *c = rt.channel;
    struct mz_assertion *a = &c->assertions[c->assertion_count];
    if (c->assertion_count == MZ_MAX_ASSERTIONS) {
        c->assertions_lost = 1;
        return;
    }
    mz_text_copy(a->text, sizeof a->text, text);
    for (uint32_t i = 0; i < c->assertion_count; i++)
        if (!mz_text_differs(c->assertions[i].text, a->text)) return;
    c->assertion_count++;
}

static void read_one(uint32_t type, const char *text)
{
    if (type == MZ_NOTE_ASSERTION) add_assertion(text);
    if (type == MZ_NOTE_READS || type == MZ_NOTE_WRITES) mz_unseen(text);
    if (type != MZ_NOTE_WRITES || rt.channel->options.trusting) return;
    rt.writes_unknown = true;
    mz_spin_forbid(text);
}

/* Read a note segment. Return true if a note says that our compiler plug-in compiled the module. */
bool mz_notes_read(const void *notes, size_t size)
{
    const char *p = notes, *end = p + size;
    bool plugin = false;
    while ((size_t)(end - p) >= sizeof(Elf64_Nhdr)) {
        const Elf64_Nhdr *n = (const void *)p;
        const char *name = p + sizeof *n, *text = name + (((size_t)n->n_namesz + 3) & ~(size_t)3);
        size_t room = (size_t)(end - name);
        if (n->n_namesz > room || n->n_descsz > room || text + n->n_descsz > end) break;
        bool ours = n->n_namesz == sizeof MZ_NOTE_NAME && !mz_text_differs(name, MZ_NOTE_NAME);
        if (ours && n->n_descsz && !text[n->n_descsz - 1]) read_one(n->n_type, text);
        plugin |= ours && n->n_type == MZ_NOTE_PLUGIN;
        p = text + (((size_t)n->n_descsz + 3) & ~(size_t)3);
    }
    return plugin;
}
