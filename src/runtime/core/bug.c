/* Ending the whole check, and remarks beside the verdict. Any file may call these functions, because they
 * need no other part of the runtime. Findings are in finding.c. */
#include "runtime/core/runtime.h"
#include "runtime/kernel/kernel.h"

#include <unistd.h>

/* End the process at once. */
_Noreturn void mz_quit(int code)
{
    if (rt.up.worker_leaves) rt.up.worker_leaves();
    mz_sys(SYS_exit_group, code);
    __builtin_unreachable();
}

/* End the whole check, not just the execution. rt.channel->end_text says why. */
_Noreturn void mz_end_all(enum mz_end end)
{
    rt.channel->end = end;
    rt.channel->end_thread = rt.self;
    if (rt.standalone) {
        mz_print("mazurka: ");
        mz_print(rt.channel->end_text);
        mz_print("\n");
    }
    mz_quit(2);
}

_Noreturn void mz_bug(const char *file, int line, const char *what)
{
    if (!rt.channel) {
        mz_print("mazurka: internal error: ");
        mz_print(what);
        mz_print("\n");
        mz_quit(2);
    }
    char *t = rt.channel->end_text, *end = t + sizeof rt.channel->end_text;
    t = mz_text_add(t, end, file);
    t = mz_text_add(t, end, ":");
    t = mz_text_number(t, end, (uint64_t)line, 10);
    t = mz_text_add(t, end, ": ");
    mz_text_add(t, end, what);
    mz_end_all(MZ_END_INTERNAL);
}

/* Add the text to a list of `room` texts of `size` bytes each, unless the list has it. Return false if the
 * list is full. */
static bool add_text(char *list, int room, size_t size, const char *text)
{
    char fitting[MZ_LONG_TEXT];
    MZ_ASSERT(size <= sizeof fitting);
    mz_text_copy(fitting, size, text);
    for (int i = 0; i < room; i++, list += size) {
        if (!*list) mz_text_copy(list, size, fitting);
        if (!mz_text_differs(list, fitting)) return true;
    }
    return false;
}

/* Add a remark that does not affect the verdict. */
void mz_note(const char *text) { add_text(rt.channel->notes[0], 8, MZ_TEXT, text); }

/* The program does something that the search does not see or model. The report shows the text beside the
 * verdict. */
void mz_unseen(const char *text)
{
    char *list = rt.channel->unseen[0], *last = rt.channel->unseen[MZ_MAX_UNSEEN - 1];
    if (!add_text(list, MZ_MAX_UNSEEN - 1, MZ_LONG_TEXT, text))
        mz_text_copy(last, MZ_LONG_TEXT, "and more, which does not fit into this list");
}
