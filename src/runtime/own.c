/* The memory that is ours: the engine's and the runtime's, in the middle of the program's.
 *
 * The program must not touch it. What the hooks show is a finding at once (memory.c asks mz_own_contains, on the
 * slow way of an access only). Against what they do not show: between regions lie pages that nobody may access
 * (region.c), tables that are made once are read-only afterwards, and before a search is called complete, what was
 * set once must be as it was, and what the engine knows must fit together (mz_own_check). */
#include "own.h"
#include "kernel.h"

#include "../base/region.h"

#define RANGES 512u

static struct {
    struct {
        uint64_t start, end;
    } ranges[RANGES];
    uint32_t count;
    uint64_t data_start, data_end; /* of our library */
    uint64_t sum;                  /* of what never changes */
} own;

/* region.h: for every region, from the first one on. */
void mz_region_noted(void *region, size_t bytes, bool there)
{
    uint64_t start = (uintptr_t)region;
    uint32_t i = 0;
    while (i < own.count && own.ranges[i].start != start) i++;
    if (there && own.count < RANGES) {
        own.ranges[own.count].start = start;
        own.ranges[own.count++].end = start + bytes;
    } else if (!there && i < own.count) {
        own.ranges[i] = own.ranges[--own.count];
    }
}

extern char __start_mz_libc_state[], __stop_mz_libc_state[]; /* the linker makes them */

/* Some of it is the program's: its heap, its stacks, its arguments, what it maps, what we keep in place of libc. */
static bool is_programs(uint64_t a)
{
    bool libc = a >= (uintptr_t)__start_mz_libc_state && a < (uintptr_t)__stop_mz_libc_state;
    return libc || mz_heap_contains(a) || mz_fiber_stack_owner(a) >= 0 || mz_memory_tls_owner(a) >= 0 ||
           mz_snapshot_contains(a, 1) || mz_maps_contains(a);
}

bool mz_own_contains(uint64_t a)
{
    const char *channel = (const char *)rt.channel;
    bool ours = (a >= own.data_start && a < own.data_end) ||
                (a >= (uintptr_t)channel && a < (uintptr_t)channel + rt.channel->size);
    for (uint32_t i = 0; i < own.count && !ours; i++)
        ours = a >= own.ranges[i].start && a < own.ranges[i].end;
    return ours && !is_programs(a);
}

static uint64_t mix(uint64_t h, const void *p, size_t size)
{
    for (size_t i = 0; i < size; i++) h = (h ^ ((const uint8_t *)p)[i]) * 0x100000001b3ull;
    return h;
}

/* What is set before the search begins, and then only read. */
static uint64_t sum(void)
{
    struct mz_options_block options = rt.channel->options;
    const void *const pointers[] = {rt.x, rt.path, rt.channel, rt.live, (const void *)(uintptr_t)rt.main};
    options.stop = 0; /* the command sets it */
    uint64_t h = mix(0xcbf29ce484222325ull, &options, sizeof options);
    h = mix(h, pointers, sizeof pointers);
    return mix(h, &rt.channel->magic, offsetof(struct mz_channel, options));
}

void mz_own_init(void)
{
    mz_our_data(&own.data_start, &own.data_end);
    own.sum = sum();
}

void mz_own_check(void)
{
    if (sum() != own.sum) MZ_BUG("the memory of mazurka has been overwritten: its options or pointers");
    const char *damage = mz_explore_damage(rt.x);
    if (!damage) return;
    char text[MZ_TEXT], *end = text + sizeof text;
    mz_text_add(mz_text_add(text, end, "the memory of mazurka has been overwritten: "), end, damage);
    MZ_BUG(text);
}
