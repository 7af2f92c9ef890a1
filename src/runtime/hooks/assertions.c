/* Which assertions of the program are reached, in any execution of the search: the plug-ins of the compilers insert a call where
 * it is decided whether an assertion fails (compiler/gcc_assertions.cc). A place that has been reached before costs one
 * comparison. The table and the marks are kept: going back does not take them back. */
#include "runtime/core/runtime.h"
#include "runtime/hooks/hooks.h"
#include "runtime/hooks/room.h"

#define as mz_hooks_room.assertions

/* Is the text that of an assertion in this file and line? */
static bool is_at(const char *text, const char *file, unsigned line)
{
    char number[16];
    while (*file)
        if (*text++ != *file++) return false;
    if (*text++ != ':') return false;
    *mz_text_number(number, number + sizeof number, line, 10) = '\0';
    for (const char *n = number; *n;)
        if (*text++ != *n++) return false;
    return *text == ':';
}

static void mark(const char *file, unsigned line)
{
    struct mz_channel *c = rt.channel;
    for (uint32_t i = 0; i < c->assertion_count; i++)
        if (is_at(c->assertions[i].text, file, line)) c->assertions[i].reached = 1;
}

MZ_EXPORT void __tsan_mz_assertion(const char *file, unsigned line);
void __tsan_mz_assertion(const char *file, unsigned line)
{
    uint32_t i = (uint32_t)(((uintptr_t)file * 31 + line) * 0x9e3779b1u) % MZ_REACHED;
    while (as.reached[i].file && (as.reached[i].file != file || as.reached[i].line != line))
        i = (i + 1) % MZ_REACHED;
    if (mz_likely(as.reached[i].file != NULL) || !rt.channel) return;
    mark(file, line);
    if (as.count >= MZ_REACHED / 2) return;
    as.count++;
    as.reached[i] = (struct mz_reached){file, line};
}
