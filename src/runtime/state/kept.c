/* Data that the runtime keeps for the program outside of program memory, for --state-match=exact: handlers of
 * atexit, thread-specific keys, names of threads, named semaphores and the like.
 *
 * Code that changes such a word calls mz_keep_state first. So this file knows all words that were ever
 * changed, and their values at the start of an execution. The files that own the words restore these values
 * when an execution begins. A state contains the words that differ from the start, in the order in which the
 * search met them first. */
#include "base/region.h"
#include "base/table.h"
#include "runtime/state/hash.h"
#include "runtime/state/room.h"
#include "runtime/state/state.h"

#define WORDS (1u << 20)

#define ke mz_state_room.kept

static void begin(void)
{
    ke.words = mz_region_reserve(WORDS / 2 * sizeof *ke.words);
    ke.table.slots = mz_region_reserve(WORDS * sizeof *ke.table.slots);
    ke.table.mask = WORDS - 1;
    MZ_ASSERT(ke.words && ke.table.slots);
}

static inline bool is_at(const void *words, uint32_t number, const void *at)
{
    return ((const struct mz_kept_word *)words)[number - 1].at == *(const uint64_t *)at;
}

static void add(uint64_t at)
{
    uint32_t *slot = mz_table_find(&ke.table, mz_table_hash(at >> 3), is_at, ke.words, &at);
    if (*slot) return;
    MZ_ASSERT(ke.count < WORDS / 2);
    ke.words[ke.count].at = at;
    ke.words[ke.count].first = *(const uint64_t *)at;
    mz_table_fill(&ke.table, slot, ++ke.count);
}

void mz_state_kept(const volatile void *p, size_t size)
{
    if (!ke.words) begin();
    for (uint64_t at = (uintptr_t)p & ~7ull; at < (uintptr_t)p + size; at += 8) add(at);
}

void mz_state_each_kept(void (*f)(uint64_t at, uint64_t value))
{
    for (uint32_t i = 0; i < ke.count; i++) {
        uint64_t now = *(const uint64_t *)ke.words[i].at;
        if (now != ke.words[i].first) f(ke.words[i].at, now);
    }
}

/* ---- for tests ---- */

static char *add_schedule(char *t, char *end, const struct mz_step *steps, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++) {
        t = mz_text_add(t, end, " ");
        t = mz_text_number(t, end, steps[i].thread, 10);
        if (!steps[i].choice) continue;
        t = mz_text_add(t, end, "/");
        t = mz_text_number(t, end, steps[i].choice, 10);
    }
    return t;
}

/* A callback of program.h: two schedules lead to the same identity before their last steps, and to different
 * ones after them. */
void mz_state_differs(void *system, const struct mz_step *one, uint32_t length, const struct mz_step *other,
                      uint32_t other_length)
{
    char *text = ke.text, *t = text, *end = text + sizeof ke.text;
    (void)system;
    t = mz_text_add(t, end, "states with one identity differ: after");
    t = add_schedule(t, end, one, length);
    t = mz_text_add(t, end, ", and after");
    add_schedule(t, end, other, other_length);
    mz_print(text);
    mz_print("\n");
    MZ_BUG(text);
}
