#include "channel.h"

const char *mz_kind_name(enum mz_kind kind)
{
    static const char *const names[] = {
        "nothing",        "assertion",   "deadlock",       "data-race",     "crash",
        "use-after-free", "double-free", "invalid-free",   "out-of-bounds", "leak",
        "api-misuse",     "livelock",    "nondeterminism", "exit-code",
    };
    return (unsigned)kind < MZ_KIND_COUNT ? names[kind] : "?";
}
