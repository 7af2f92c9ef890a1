#include "event/channel.h"

const char *mz_kind_name(enum mz_kind kind)
{
    static const char *const names[] = {
        "nothing",        "assertion",   "deadlock",       "data-race",     "crash",
        "use-after-free", "double-free", "invalid-free",   "out-of-bounds", "leak",
        "api-misuse",     "livelock",    "nondeterminism", "exit-code",
    };
    return (unsigned)kind < MZ_KIND_COUNT ? names[kind] : "?";
}

static uint64_t mix(uint64_t h, uint64_t value) { return (h ^ value) * 0x100000001b3ull; }

/* Two accesses race whichever comes first: the pair of places counts, not its order. */
static uint64_t hash_of_race(const struct mz_finding *f, uint64_t h)
{
    uint64_t a = (uint32_t)f->place.pc[0], b = f->other_pc;
    return mix(mix(mix(h, a < b ? a : b), a < b ? b : a), f->address);
}

uint64_t mz_finding_hash(const struct mz_finding *f)
{
    uint64_t h = f->kind * 0x9e3779b97f4a7c15ull;
    if (f->kind == MZ_KIND_DATA_RACE) return hash_of_race(f, h);
    if (f->kind == MZ_KIND_LEAK) return mix(mix(h, f->address), f->object_size);
    for (int i = 0; i < MZ_MAX_FRAMES && f->place.pc[i]; i++) h = mix(h, f->place.pc[i]);
    h = mix(h, f->address);
    if (f->kind == MZ_KIND_DEADLOCK || f->kind == MZ_KIND_LIVELOCK)
        for (int s = 0; s < MZ_MAX_THREADS; s++) {
            const struct mz_thread_final *t = &f->threads[s];
            h = mix(mix(h, t->state + 16 * t->object), (uint64_t)(t->holder + 1));
        }
    return h;
}
