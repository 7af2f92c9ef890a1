/* The log of the synchronization order (race_order.c), for reorder.c, which reads it. */
#ifndef MZ_RUNTIME_MEMORY_RACE_ORDER_LOG_H
#define MZ_RUNTIME_MEMORY_RACE_ORDER_LOG_H

#include <stdbool.h>
#include <stdint.h>

enum mz_sync_kind {
    MZ_SYNC_READ,
    MZ_SYNC_STORE,
    MZ_SYNC_UPDATE, /* read-modify-write */
    MZ_SYNC_ACQUIRE,
    MZ_SYNC_RELEASE,
    MZ_SYNC_ACQUIRE_ALL,
    MZ_SYNC_RELEASE_PART,
    MZ_SYNC_FENCE,
    MZ_SYNC_SPAWN,
    MZ_SYNC_JOIN
};

struct mz_sync_entry {
    uint8_t kind, thread, other, order;
    uint32_t object;
    uint32_t epoch; /* the epoch that the entry publishes */
};

/* Returns the entries of the event with this index in the execution so far. */
const struct mz_sync_entry *mz_sync_of_event(uint32_t event, uint32_t *count);
/* Has the program used a memory order other than seq_cst? */
bool mz_sync_is_weak(void);

#endif
