/* How a worker of a shared search and the command exchange messages: two rings of bytes in the channel, one in each
 * direction, and bells (futexes) to wait at.
 *
 * Before a process waits, it sets `waiting` and then looks at the ring once more. So the other side rings a bell
 * only if somebody waits there, and no wakeup is lost. A message is its length, then its bytes. A message longer
 * than the ring is sent in pieces. Each ring has one writer and one reader; neither holds a lock, so either process
 * may die at any time.
 *
 * What all workers of a run share (struct mz_common) is in separate memory, which is mapped over a part of each
 * channel. */
#ifndef MZ_EVENT_LINK_H
#define MZ_EVENT_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "event/channel.h"
#include "event/finished.h"

#define MZ_RING (1u << 14) /* bytes; a larger ring is not faster */

struct mz_ring {
    volatile uint64_t written, read; /* bytes since the start */
    uint8_t bytes[MZ_RING];
};

struct mz_link {
    volatile uint32_t bell;    /* the command rings it for the worker ... */
    volatile uint32_t waiting; /* ... if a process waits there */
    volatile uint32_t wish;    /* enum mz_share_wish, set by the command */
    volatile uint32_t leaves;  /* its process is about to end */
    volatile uint32_t more; /* the message does not fit into to_worker: the command waits for space there */
    volatile uint32_t slot; /* name of a thread whose slot the worker asks for (mz_common.asks) */
    volatile uint64_t idle, alive; /* ticks that the worker has waited for tasks; ticks since it started */
    struct mz_ring to_worker, to_command;
};

#define MZ_COMMON_NAME "mazurka-workers"
/* In a stateful search, what is behind struct mz_common in the same file: event/finished.h. */
#define MZ_FINISHED_OFFSET ((size_t)1 << 16)

struct mz_common {
    volatile uint32_t bell;        /* the workers ring it for the command ... */
    volatile uint32_t waiting;     /* ... if a process waits there */
    volatile uint32_t told, tells; /* of another rank: number of messages from rank 0 to it, and back */
    volatile uint32_t
        slots[MZ_MAX_THREADS];    /* which thread has the slot: which child of which slot; 0: free */
    volatile uint64_t executions; /* counted only if there is a limit */
    uint64_t secret;              /* a random number that identifies this memory */
    volatile uint32_t spare;      /* there is a processor for each worker: spin before sleeping */
    /* another rank assigns slots: a worker that needs a slot asks, and waits for it here */
    volatile uint32_t asks;
};

/* Can a thread with that name exist? Its parent must have a slot. */
static inline bool mz_common_sound(const struct mz_common *c, uint32_t name)
{
    uint32_t parent = (name - 1) >> 8, child = (name - 1) & 255;
    return name && parent < MZ_MAX_THREADS && child < MZ_MAX_THREADS &&
           (parent == 0 || __atomic_load_n(&c->slots[parent], __ATOMIC_ACQUIRE));
}

/* The slot of the thread with that name; takes a free slot if the thread is new. 0: no slot is free. */
static inline int mz_common_slot(struct mz_common *c, uint32_t name)
{
    for (int s = 1; s < MZ_MAX_THREADS; s++) {
        uint32_t is = __atomic_load_n(&c->slots[s], __ATOMIC_ACQUIRE);
        if (!is &&
            __atomic_compare_exchange_n(&c->slots[s], &is, name, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return s;
        if (is == name) return s;
    }
    return 0;
}

/* The same, but only looks for threads that already have a slot. */
static inline int mz_common_known_slot(const struct mz_common *c, uint32_t name)
{
    int s = MZ_MAX_THREADS - 1;
    while (s > 0 && __atomic_load_n(&c->slots[s], __ATOMIC_ACQUIRE) != name) s--;
    return s;
}

/* Write as many bytes as there is space for. Return their number. */
static inline size_t mz_ring_put(struct mz_ring *r, const uint8_t *from, size_t size)
{
    uint64_t at = r->written, room = MZ_RING - (at - __atomic_load_n(&r->read, __ATOMIC_ACQUIRE));
    if (room > MZ_RING) room = 0; /* damaged */
    if (size > room) size = room;
    uint8_t *to = r->bytes + at % MZ_RING;
    size_t first = MZ_RING - at % MZ_RING; /* up to the end of the ring */
    if (first > size) first = size;
    memcpy(to, from, first);
    memcpy(r->bytes, from + first, size - first);
    __atomic_store_n(&r->written, at + size, __ATOMIC_RELEASE);
    return size;
}

static inline bool mz_ring_room(const struct mz_ring *r)
{
    return r->written - __atomic_load_n(&r->read, __ATOMIC_ACQUIRE) < MZ_RING;
}

static inline int mz_ring_holds(const struct mz_ring *r)
{
    return __atomic_load_n(&r->written, __ATOMIC_ACQUIRE) != r->read;
}

/* Has the program overwritten the ring? Then its content means nothing. */
static inline bool mz_ring_damaged(const struct mz_ring *r)
{
    return __atomic_load_n(&r->written, __ATOMIC_ACQUIRE) - r->read > MZ_RING;
}

/* Read as many bytes as there are, at most `size`. Return their number. */
static inline size_t mz_ring_get(struct mz_ring *r, uint8_t *to, size_t size)
{
    uint64_t at = r->read, there = __atomic_load_n(&r->written, __ATOMIC_ACQUIRE) - at;
    if (there > MZ_RING) there = 0; /* damaged */
    if (size > there) size = there;
    const uint8_t *from = r->bytes + at % MZ_RING;
    size_t first = MZ_RING - at % MZ_RING;
    if (first > size) first = size;
    memcpy(to, from, first);
    memcpy(to + first, r->bytes, size - first);
    __atomic_store_n(&r->read, at + size, __ATOMIC_RELEASE);
    return size;
}

#endif
