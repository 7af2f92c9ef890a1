/* The undo log: its entries, and how to write one. Private to undo_log.c and undo.c. */
#ifndef MZ_RUNTIME_REWIND_UNDO_LOG_H
#define MZ_RUNTIME_REWIND_UNDO_LOG_H

#include "runtime/rewind/rewind.h"
#include "runtime/rewind/room.h"

#define MZ_LOG_ROOM  ((size_t)256 << 20)
#define MZ_LOG_LIMIT ((size_t)48 << 20) /* beyond this, the next node begins a new log */

/* Size of the table of words that a step has written. When it is half full, further words count as new. */
#define MZ_LOG_WORDS (1u << 20)

/* A step that logs no more than this need not look up whether a word is in the log already. */
#define MZ_LOG_SMALL ((size_t)16 << 10)

/* The log is read from its end, so the last word of an entry says what it is:
 *
 *   bytes ... (rounded up to 8)   [before]   [mirror]   at   tag    tag = size, slot, kind; [only of some kinds]
 *   old value                                at          a single word: `at` is a multiple of 8, so its kind is 0 */
enum mz_log_kind {
    MZ_LOG_WORD,
    MZ_LOG_BYTES,
    MZ_LOG_REST_OF_RUN,
    MZ_LOG_THREAD,   /* `at` is where the entry before of this kind and thread ends, or 0 */
    MZ_LOG_MIRRORED, /* `mirror` is the address of the copy */
    MZ_LOG_STACK,    /* `mirror` is its stack pointer, `before` like `at` of MZ_LOG_THREAD */
    MZ_LOG_KINDS = 8
};
#define MZ_LOG_HAS_MIRROR(kind) ((kind) >= MZ_LOG_MIRRORED)
#define MZ_LOG_HAS_BEFORE(kind) ((kind) == MZ_LOG_STACK)
#define MZ_LOG_ENTRY            32u /* bytes of an entry besides its own, at most */

#define un mz_rewind_room.undo

/* Add an entry for `size` bytes. Return where the caller must put the bytes. */
static inline __attribute__((always_inline)) char *
mz_log_push(uint64_t at, size_t size, enum mz_log_kind kind, int slot, uint64_t mirror)
{
    size_t room = (size + 7) & ~(size_t)7;
    MZ_ASSERT(un.count + room + MZ_LOG_ENTRY <= MZ_LOG_ROOM);
    char *bytes = un.log + un.count;
    uint64_t *end = (uint64_t *)(void *)(bytes + room);
    if (MZ_LOG_HAS_BEFORE(kind)) *end++ = un.last_stack[slot];
    if (MZ_LOG_HAS_MIRROR(kind)) *end++ = mirror;
    *end++ = at;
    *end++ = (uint64_t)size << 16 | (uint64_t)slot << 8 | (uint64_t)kind;
    un.count = (size_t)((char *)end - un.log);
    return bytes;
}

/* Add the word of memory at this address, a multiple of 8. There is room: MZ_LOG_LIMIT is far below MZ_LOG_ROOM. */
static inline void mz_log_word(uint64_t at)
{
    uint64_t *to = (uint64_t *)(void *)(un.log + un.count);
    to[0] = *(const uint64_t *)at;
    to[1] = at;
    un.count += 16;
}

static inline __attribute__((always_inline)) void mz_log_copy_words(void *to, const void *from, size_t size)
{
    for (size_t i = 0; i < size / 8; i++) ((uint64_t *)to)[i] = ((const uint64_t *)from)[i];
}

static inline void mz_log_copy(void *to, const void *from, size_t size)
{
    if (size == 4)
        *(uint32_t *)to = *(const uint32_t *)from;
    else if (size <= 32 && size % 8 == 0)
        mz_log_copy_words(to, from, size);
    else
        mz_raw_memcpy(to, from, size);
}

bool mz_log_overflows(size_t size);
void mz_log_empty(void);
void mz_log_settle_words(void);

#endif
