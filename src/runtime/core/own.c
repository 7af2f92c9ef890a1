/* The memory of the engine and the runtime, inside the address space of the program.
 *
 * The program must not access it. An access that calls a hook is a finding at once (bounds.c asks
 * mz_own_contains, only on the slow path of an access). Against accesses without a hook there are three
 * measures:
 *   - Between regions are pages that cannot be accessed (region.c).
 *   - Tables that do not change after the start are read-only.
 *   - At the end of a complete search, mz_own_check checks that constant data is unchanged and that the
 *     engine's data is consistent. */
#include "base/region.h"
#include "runtime/core/room.h"
#include "runtime/kernel/kernel.h"
#include "runtime/memory/memory.h"
#include "runtime/rewind/rewind.h"

#define own mz_core_room.own

/* For base/region.h, which calls it for every region: `there` is true when the region begins, false when it
 * ends. */
void mz_region_noted(void *region, size_t bytes, bool there)
{
    uint64_t start = (uintptr_t)region;
    uint32_t i = 0;
    own.free_start = own.free_end = 0;
    while (i < own.count && own.ranges[i].start != start) i++;
    if (there && own.count < MZ_OWN_RANGES) {
        own.ranges[own.count].start = start;
        own.ranges[own.count++].end = start + bytes;
    } else if (!there && i < own.count) {
        own.ranges[i] = own.ranges[--own.count];
    }
}

extern char __start_mz_libc_state[], __stop_mz_libc_state[]; /* the linker defines them */

/* Regions and this library also contain memory of the program: heap, stacks, arguments, mappings, libc's
 * variables. */
static bool is_programs(uint64_t a)
{
    bool libc = a >= (uintptr_t)__start_mz_libc_state && a < (uintptr_t)__stop_mz_libc_state;
    return libc || mz_heap_contains(a) || mz_fiber_stack_owner(a) >= 0 || mz_fiber_tls_owner(a) >= 0 ||
           mz_snapshot_contains(a, 1) || mz_maps_contains(a);
}

/* Is `a` in [start, end)? If not, cut the free range [*low, *high) around `a` so that it excludes the range. */
static bool is_inside(uint64_t a, uint64_t start, uint64_t end, uint64_t *low, uint64_t *high)
{
    if (a >= end) {
        if (end > *low) *low = end;
        return false;
    }
    if (a >= start) return true;
    if (start < *high) *high = start;
    return false;
}

/* Find the widest range around `a` without any memory of ours, and remember it. Return false if there is none. */
static bool find_free_range(uint64_t a)
{
    uint64_t low = 0, high = UINT64_MAX, channel = (uintptr_t)rt.channel;
    bool ours = is_inside(a, own.data_start, own.data_end, &low, &high) ||
                is_inside(a, channel, channel + rt.channel->size, &low, &high);
    for (uint32_t i = 0; i < own.count && !ours; i++)
        ours = is_inside(a, own.ranges[i].start, own.ranges[i].end, &low, &high);
    if (ours) return false;
    own.free_start = low;
    own.free_end = high;
    return true;
}

bool mz_own_contains(uint64_t a)
{
    if (mz_likely(a >= own.free_start && a < own.free_end)) return false;
    return !find_free_range(a) && !is_programs(a);
}

static uint64_t mix(uint64_t h, const void *p, size_t size)
{
    for (size_t i = 0; i < size; i++) h = (h ^ ((const uint8_t *)p)[i]) * 0x100000001b3ull;
    return h;
}

/* Checksum of data that is set before the search and then only read. */
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
    own.free_start = own.free_end = 0;
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
