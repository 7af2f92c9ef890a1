/* Leaks (--leaks): blocks of the heap that are not freed when the program ends, and that no pointer points
 * to.
 *
 * The scan is conservative: every aligned word that could be the address of a byte of a block keeps that
 * block. The roots are:
 *  - the pages of program memory that were ever written (globals of all modules, blocks from before main),
 *  - the thread-local storage and the stacks of threads that have not ended,
 *  - results of threads that nobody has joined.
 *
 * After a return from main, main's variables are gone; after exit() they still count. */
#include "base/region.h"
#include "runtime/memory/heap.h"
#include "runtime/memory/memory.h"
#include "runtime/memory/room.h"
#include "runtime/rewind/rewind.h"

#define BLOCKS (1u << 22)

#define lk mz_memory_room.leaks

void mz_leaks_init(void)
{
    if (!rt.channel->options.leaks) return;
    lk.live = mz_region_reserve(BLOCKS * sizeof *lk.live);
    lk.reached = mz_region_reserve(BLOCKS);
    lk.todo = mz_region_reserve(BLOCKS * sizeof *lk.todo);
    MZ_ASSERT(lk.live && lk.reached && lk.todo);
}

/* Lists the live blocks by address. The arenas lie in the order of their slots, but each gives its latest
 * block first. */
static bool list_blocks(void)
{
    lk.count = lk.todo_count = 0;
    if (mz_heap_live_blocks() > BLOCKS) return false;
    for (int s = 0; s < (int)rt.slots_known; s++) {
        uint32_t first = lk.count;
        for (const struct mz_block *b = mz_heap_last(s); b; b = mz_heap_previous(b))
            if (mz_heap_is_live(b)) lk.live[lk.count++] = b;
        for (uint32_t i = first, k = lk.count; i + 1 < k; i++, k--) {
            const struct mz_block *b = lk.live[i];
            lk.live[i] = lk.live[k - 1];
            lk.live[k - 1] = b;
        }
    }
    for (uint32_t i = 0; i < lk.count; i++) lk.reached[i] = 0;
    return true;
}

static void look_at_word(uint64_t word)
{
    uint32_t low = 0, high = lk.count; /* live[low - 1] begins at or before word, live[high] after it */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if ((uintptr_t)(lk.live[middle] + 1) <= word)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || lk.reached[low - 1]) return;
    uint64_t size = lk.live[low - 1]->size;
    if (word - (uintptr_t)(lk.live[low - 1] + 1) >= (size ? size : 1)) return;
    lk.reached[low - 1] = 1;
    lk.todo[lk.todo_count++] = low - 1;
}

static void scan(const void *from, const void *to)
{
    uint64_t first = (uintptr_t)(lk.live[0] + 1), end = (uintptr_t)(lk.live[lk.count - 1] + 1);
    end += lk.live[lk.count - 1]->size + 1;
    for (const uint64_t *p = (const void *)(((uintptr_t)from + 7) & ~(uintptr_t)7);
         p + 1 <= (const uint64_t *)to; p++)
        if (mz_unlikely(*p >= first && *p < end)) look_at_word(*p);
}

static void scan_thread(int slot)
{
    const struct mz_thread *t = &rt.run.threads[slot];
    const struct mz_slot *s = &rt.slots[slot];
    if (t->state == MZ_THREAD_ABSENT) return;
    if (t->state == MZ_THREAD_FINISHED) {
        if (!t->joined && !t->detached) look_at_word((uintptr_t)t->result);
        return;
    }
    bool exits = rt.run.exited && slot == rt.run.exit_thread;
    const void *low = exits ? rt.run.exit_frame : s->sp;
    if (mz_fiber_stack_contains(slot, (uintptr_t)low)) scan(low, s->stack_high);
    scan((const char *)s->fs - rt.tls_size, (const char *)s->fs);
}

static void scan_all(void)
{
    mz_snapshot_scan(scan);
    for (uint32_t s = 0; s < rt.slots_known; s++) scan_thread((int)s);
    while (lk.todo_count) {
        const struct mz_block *b = lk.live[lk.todo[--lk.todo_count]];
        scan(b + 1, (const char *)(b + 1) + b->size);
    }
}

/* Called when the program has ended by itself. Reports a leak as a finding. */
void mz_leaks_check(void)
{
    if (!rt.channel->options.leaks || !mz_heap_live_blocks()) return;
    if (!list_blocks()) mz_unsupported("--leaks with more than four million blocks", "use fewer blocks");
    scan_all();
    uint64_t bytes = 0, blocks = 0;
    const struct mz_block *first = NULL;
    for (uint32_t i = 0; i < lk.count; i++) {
        if (lk.reached[i]) continue;
        struct mz_block_history *h = mz_history_of(lk.live[i]);
        if (h) h->is_leaked = 1;
        if (!first) first = lk.live[i];
        bytes += lk.live[i]->size;
        blocks++;
    }
    if (first) mz_finding_leak((uintptr_t)(first + 1), blocks, bytes);
}
