/* What the runtime keeps for the program outside of program memory, for --state-match=exact: handlers of
 * atexit, thread-specific keys, names of threads, named semaphores and the like.
 *
 * Whoever changes such a word says so before (mz_keep_state). So the words that were ever changed are known,
 * and what each was at the start of an execution; their owners put that back when an execution begins. A
 * state has those that differ from the start, in the order in which they were met first in the search. */
#include "state.h"

#include "../base/region.h"

#define WORDS (1u << 20)

static struct {
    struct {
        uint64_t at, first;
    } * words;
    uint32_t *table; /* open addressing: number of a word plus one */
    uint32_t count;
} ke;

static void begin(void)
{
    ke.words = mz_region_reserve(WORDS / 2 * sizeof *ke.words);
    ke.table = mz_region_reserve(WORDS * sizeof *ke.table);
    MZ_ASSERT(ke.words && ke.table);
}

static void add(uint64_t at)
{
    uint32_t i = (uint32_t)((at >> 3) * 0x9e3779b97f4a7c15u >> 44);
    for (; ke.table[i]; i = (i + 1) % WORDS)
        if (ke.words[ke.table[i] - 1].at == at) return;
    MZ_ASSERT(ke.count < WORDS / 2);
    ke.words[ke.count].at = at;
    ke.words[ke.count].first = *(const uint64_t *)at;
    ke.table[i] = ++ke.count;
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

/* program.h: two schedules lead to one identity before their last steps, and to two after them. */
void mz_state_differs(void *system, const struct mz_step *one, uint32_t length, const struct mz_step *other,
                      uint32_t other_length)
{
    static char text[1 << 16];
    char *t = text, *end = text + sizeof text;
    (void)system;
    t = mz_text_add(t, end, "states with one identity differ: after");
    t = add_schedule(t, end, one, length);
    t = mz_text_add(t, end, ", and after");
    add_schedule(t, end, other, other_length);
    mz_print(text);
    mz_print("\n");
    MZ_BUG(text);
}
