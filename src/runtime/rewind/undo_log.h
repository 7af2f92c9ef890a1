/* The undo log: its entries, and how to write one. Private to undo_log.c and undo.c. */
#ifndef MZ_RUNTIME_REWIND_UNDO_LOG_H
#define MZ_RUNTIME_REWIND_UNDO_LOG_H

#include "runtime/rewind/rewind.h"
#include "runtime/rewind/room.h"

#define MZ_LOG_ROOM  ((size_t)256 << 20)
#define MZ_LOG_LIMIT ((size_t)48 << 20) /* beyond this, the next node begins a new log */

/* Size of the table of words that a step has written. When it is half full, further words count as new. */
#define MZ_LOG_WORDS (1u << 20)

enum mz_log_kind {
    MZ_LOG_BYTES,
    MZ_LOG_WORD,
    MZ_LOG_STACK,
    MZ_LOG_MIRRORED,
    MZ_LOG_THREAD,
    MZ_LOG_REST_OF_RUN
};

struct mz_log_entry { /* stands behind its bytes; their number is a multiple of 8 */
    uint64_t at;
    uint32_t size;
    uint16_t kind;
    uint16_t slot;   /* MZ_LOG_STACK, MZ_LOG_THREAD */
    uint64_t mirror; /* MZ_LOG_MIRRORED */
};

#define un mz_rewind_room.undo

/* Add an entry for `size` bytes. Return where the caller must put the bytes. */
static inline char *mz_log_push(uint64_t at, size_t size, enum mz_log_kind kind, int slot, uint64_t mirror)
{
    size_t room = (size + 7) & ~(size_t)7;
    MZ_ASSERT(un.count + room + sizeof(struct mz_log_entry) <= MZ_LOG_ROOM);
    char *bytes = un.log + un.count;
    *(struct mz_log_entry *)(void *)(bytes + room) =
        (struct mz_log_entry){at, (uint32_t)size, (uint16_t)kind, (uint16_t)slot, mirror};
    un.count += room + sizeof(struct mz_log_entry);
    return bytes;
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
void mz_log_settle_words(void);

#endif
