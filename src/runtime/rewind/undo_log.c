/* Writes the undo log: the old bytes of data that is about to change.
 *
 * undo.c explains the log and reads it. Other rooms call the functions of this file before they change
 * something: mz_undo_keep for the runtime's own data of this execution, mz_undo_write for program memory,
 * mz_undo_state for data of the runtime that is part of the program's state. A word of program memory may be in
 * the log several times in one step: going back ends with the oldest value. A table keeps long steps from
 * logging words again and again, and tells the state and the audit which words were announced. */
#include "runtime/rewind/undo_log.h"
#include "runtime/state/hash.h"

#define PAGE 4096u

void mz_log_empty(void)
{
    un.count = un.small_end = 0;
    for (int s = 0; s < MZ_SLOTS; s++) un.last_stack[s] = un.last_thread[s] = 0;
}

/* Does the log overflow? The log must not become full within one step. So a step that writes very much drops
 * the log of the steps before it. The words that it has written so far are settled (mz_log_settle_words), and
 * count as new if the step writes them again. Return true if even `size` bytes alone are too many. */
__attribute__((noinline)) bool mz_log_overflows(size_t size)
{
    if (un.count + size < MZ_LOG_ROOM / 2) return false;
    if (rt.hashing) mz_log_settle_words();
    un.stamp++;
    un.word_count = 0;
    mz_log_empty();
    un.floor = UINT32_MAX; /* until the next node */
    un.touched = ~(uint64_t)0;
    rt.auditing = false; /* the announced writes are lost */
    return size > MZ_LOG_ROOM / 4;
}

void mz_undo_keep(const volatile void *p, size_t size)
{
    if (mz_unlikely(un.floor == UINT32_MAX || un.off)) return;
    if (mz_unlikely(un.count + size > MZ_LOG_LIMIT) && mz_log_overflows(size)) return;
    if (size == 8 && (uintptr_t)p % 8 == 0) {
        mz_log_word((uintptr_t)p);
        return;
    }
    mz_log_copy(mz_log_push((uintptr_t)p, size, MZ_LOG_BYTES, 0, 0), (const void *)(uintptr_t)p, size);
}

/* The table of words: first_slot returns where the search for a word begins, next_slot how it goes on.
 *
 * The words of one block of 512 bytes begin side by side, which suits the cache. The hash places each block,
 * and turns the words within the slots of their block: so a program that writes one word of each page fills
 * the table evenly. STRIDE takes the search out of a full block, so that long ranges do not form long
 * clusters. STRIDE is odd, the table has 2^n slots, and half of them stay empty: so the search meets each
 * slot, and ends. */
#define BLOCK  64u
#define STRIDE (BLOCK + 1)
static inline uint32_t first_slot(uint64_t at)
{
    uint64_t hash = (at >> 9) * 0x9e3779b97f4a7c15ull;
    uint32_t block = (uint32_t)(hash >> 32), turn = (uint32_t)(hash >> 26);
    return (block * BLOCK + ((uint32_t)(at >> 3) + turn) % BLOCK) % MZ_LOG_WORDS;
}
static inline uint32_t next_slot(uint32_t i) { return (i + STRIDE) % MZ_LOG_WORDS; }

/* Is the word new in this step? When the table is half full, all further words count as new, and the state
 * becomes unique.
 *
 * Why not base/table.h: the stamp makes a slot of an earlier step count as empty, so a new step need not
 * clear the table; and words that are side by side in memory are side by side in the table. */
static inline bool is_new(uint64_t at)
{
    uint32_t i = first_slot(at);
    if (mz_unlikely(un.word_count >= MZ_LOG_WORDS / 2)) {
        if (rt.hashing && un.word_count++ == MZ_LOG_WORDS / 2) rt.up.state_poison();
        return true;
    }
    for (; un.words[i].stamp == un.stamp; i = next_slot(i))
        if (un.words[i].at == at) return false;
    un.words[i].at = at;
    un.words[i].stamp = un.stamp;
    un.word_count++;
    return true;
}

static bool is_known(uint64_t at)
{
    uint32_t i = first_slot(at);
    for (; un.words[i].stamp == un.stamp; i = next_slot(i))
        if (un.words[i].at == at) return true;
    return false;
}

/* Whole pages are in the same table as words; their keys are odd. */
static inline uint64_t page_key(uint64_t at) { return (at & ~(uint64_t)(PAGE - 1)) + 1; }

/* Has a write to the word been announced since the last node? If the step has written too many words to know,
 * say yes. */
bool mz_undo_announced(uint64_t at)
{
    return un.word_count >= MZ_LOG_WORDS / 2 || is_known(at) || is_known(page_key(at));
}

/* If the word is a thread-local variable, its thread must be compared, even if that thread did not run. */
static void note_thread_variable(uint64_t at)
{
    int owner = mz_fiber_tls_owner(at);
    if (owner >= 0) un.touched |= mz_slot_bit(owner);
}

static void write_word(uint64_t at)
{
    if (!is_new(at)) return;
    if (mz_unlikely(un.count > MZ_LOG_LIMIT) && mz_log_overflows(8)) return;
    mz_log_word(at);
    if ((un.mirrors || rt.hashing) && rt.switch_fs) note_thread_variable(at);
    if (mz_likely(!rt.hashing)) return;
    int owner = mz_fiber_stack_owner(at);
    if (owner >= 0) {
        un.touched |= mz_slot_bit(owner); /* a stack has its own hash */
        return;
    }
    if (mz_unlikely(un.hashed_count == MZ_LOG_WORDS)) mz_log_settle_words();
    mz_state_word(at, *(const uint64_t *)at, false);
    un.hashed[un.hashed_count++] = at;
}

/* Program memory is about to change: it is part of the state of the program. */
void mz_undo_write(const volatile void *p, size_t size)
{
    uint64_t at = (uintptr_t)p & ~7ull, end = (uintptr_t)p + size;
    if (mz_unlikely((un.floor == UINT32_MAX && !rt.hashing) || un.off)) return;
    if (mz_likely(size <= 64 && !(rt.hashing | rt.auditing | un.mirrors) && un.count < un.small_end)) {
        for (; at < end; at += 8) mz_log_word(at);
        return;
    }
    if (mz_unlikely(size == PAGE && at % PAGE == 0) && !rt.hashing && !(un.mirrors && rt.switch_fs)) {
        if (is_new(page_key(at))) mz_undo_keep((const void *)at, PAGE);
        return;
    }
    for (; at < end; at += 8) write_word(at);
}

/* Data of the runtime that is part of the state of the program is about to change. */
void mz_undo_state(const volatile void *p, size_t size)
{
    if (mz_unlikely(rt.channel->options.exact_match)) rt.up.state_kept(p, size);
    mz_undo_write(p, size);
}

/* Add the present values of the words that the step has written to the sum of the state. */
void mz_log_settle_words(void)
{
    for (uint32_t i = 0; i < un.hashed_count; i++)
        mz_state_word(un.hashed[i], *(const uint64_t *)un.hashed[i], true);
    un.hashed_count = 0;
}
