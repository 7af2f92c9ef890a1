/* How a worker of a shared search and the command talk: two rings of bytes in the channel, one each way, and
 * bells (futexes) to wait at. Who is about to wait says so, and then looks once more: a bell is only rung for
 * who waits. A message goes as its length and its bytes, and may be longer than a ring: then
 * it goes in pieces. One writes, one reads, neither holds a lock, so either may die at any time.
 *
 * What all workers of a run share is in a memory of its own, which lies over a part of each channel. */
#ifndef MZ_EVENT_LINK_H
#define MZ_EVENT_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "channel.h"

#define MZ_RING (1u << 14) /* bytes; more would make nothing faster */

struct mz_ring {
    volatile uint64_t written, read; /* bytes, since the beginning */
    uint8_t bytes[MZ_RING];
};

struct mz_link {
    volatile uint32_t bell;        /* rung for the worker ... */
    volatile uint32_t waiting;     /* ... if it waits for that */
    volatile uint32_t wish;        /* enum mz_share_wish, set by the command */
    volatile uint32_t leaves;      /* its process is about to end */
    volatile uint32_t more;        /* than fits into the ring: the command waits for room in to_worker */
    volatile uint32_t slot;        /* the name of a thread whose slot is to be found out (mz_common.asks) */
    volatile uint64_t idle, alive; /* ticks that the worker has waited for tasks; and that it has lived */
    struct mz_ring to_worker, to_command;
};

#define MZ_COMMON_NAME "mazurka-workers"

struct mz_common {
    volatile uint32_t bell;                  /* rung for the command ... */
    volatile uint32_t waiting;               /* ... if it waits for that */
    volatile uint32_t told, tells;           /* another rank's: messages to it from rank 0, and back, ever */
    volatile uint32_t slots[MZ_MAX_THREADS]; /* whose slot it is: which child of which slot; 0: free */
    volatile uint64_t executions;            /* counted here if there is a limit */
    uint64_t secret;                         /* a random number, to know it again by */
    volatile uint32_t spare; /* a processor for each worker: who waits need not sleep at once */
    volatile uint32_t asks;  /* slots are given out elsewhere: who needs one says so, and waits for it here */
};

/* Can there be a thread of that name? Its parent has a slot. */
static inline bool mz_common_sound(const struct mz_common *c, uint32_t name)
{
    uint32_t parent = (name - 1) >> 8, child = (name - 1) & 255;
    return name && parent < MZ_MAX_THREADS && child < MZ_MAX_THREADS &&
           (parent == 0 || __atomic_load_n(&c->slots[parent], __ATOMIC_ACQUIRE));
}

/* The slot of the thread of that name, which may be new; 0: there is none left. */
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

/* The same, of those that are known. */
static inline int mz_common_known_slot(const struct mz_common *c, uint32_t name)
{
    int s = MZ_MAX_THREADS - 1;
    while (s > 0 && __atomic_load_n(&c->slots[s], __ATOMIC_ACQUIRE) != name) s--;
    return s;
}

/* As many bytes as there is room for; how many. */
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

/* Somebody has written over it: what is in it means nothing. */
static inline bool mz_ring_damaged(const struct mz_ring *r)
{
    return __atomic_load_n(&r->written, __ATOMIC_ACQUIRE) - r->read > MZ_RING;
}

/* As many bytes as there are, and at most so many. */
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
