/* Messages between workers, which explore parts of one search, and the balancer, which keeps the rest: bytes in a row,
 * in an order that both sides know. Messages come from outside, so reading has bounds: reading behind the end yields
 * zeros and sets `bad`. */
#ifndef MZ_EVENT_PACKET_H
#define MZ_EVENT_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bug.h"

/* What a worker tells the balancer, and is told (src/engine/worker_part.c). */
enum mz_share_kind {
    MZ_SHARE_TASK,    /* to a worker: explore these branches */
    MZ_SHARE_DONE,    /* the branches of the task have been explored */
    MZ_SHARE_RETURN,  /* the worker gives back branches that it has not begun */
    MZ_SHARE_SPLIT,   /* the worker gives nodes to the balancer */
    MZ_SHARE_RESOLVE, /* which step a branch is that was handed out as a thread */
    MZ_SHARE_UPDATE,  /* a race has to be reversed at a node of the balancer's */
    MZ_SHARE_REPLY,   /* to a worker: the branch that answers an update */
    MZ_SHARE_RESTART  /* the search starts over: all that was explored is void */
};
enum mz_share_wish { MZ_SHARE_KEEP, MZ_SHARE_GIVE, MZ_SHARE_GIVE_ALL };

struct mz_message {
    uint8_t *data;
    size_t count, at, capacity; /* bytes in it, read so far, room */
    bool bad;
};

static inline void mz_message_clear(struct mz_message *m)
{
    m->count = m->at = 0;
    m->bad = false;
}

static inline void mz_put_bytes(struct mz_message *m, const void *bytes, size_t size)
{
    const uint8_t *from = bytes;
    uint8_t *to = m->data + m->count;
    MZ_ASSERT(size <= m->capacity - m->count);
    for (size_t i = 0; i < size; i++) to[i] = from[i];
    m->count += size;
}

static inline void mz_get_bytes(struct mz_message *m, void *bytes, size_t size)
{
    uint8_t *to = bytes;
    const uint8_t *from = m->data + m->at;
    if (m->bad || size > m->count - m->at) {
        for (size_t i = 0; i < size; i++) to[i] = 0;
        m->bad = true;
        return;
    }
    for (size_t i = 0; i < size; i++) to[i] = from[i];
    m->at += size;
}

static inline void mz_put(struct mz_message *m, uint32_t value)
{
    MZ_ASSERT(sizeof value <= m->capacity - m->count);
    __builtin_memcpy(m->data + m->count, &value, sizeof value);
    m->count += sizeof value;
}

static inline void mz_put_long(struct mz_message *m, uint64_t value)
{
    mz_put_bytes(m, &value, sizeof value);
}

static inline uint32_t mz_get(struct mz_message *m)
{
    uint32_t value;
    mz_get_bytes(m, &value, sizeof value);
    return value;
}

static inline uint64_t mz_get_long(struct mz_message *m)
{
    uint64_t value;
    mz_get_bytes(m, &value, sizeof value);
    return value;
}

/* The number of things that follow, each of at least `each` bytes. */
static inline uint32_t mz_get_count(struct mz_message *m, size_t each)
{
    uint32_t n = mz_get(m);
    if (n > (m->count - m->at) / each) m->bad = true;
    return m->bad ? 0 : n;
}

/* What is counted exactly, however many workers share the search. */
struct mz_tally {
    uint64_t executions, blocked, cut, transitions;
};
static inline uint64_t mz_tally_leaves(struct mz_tally t) { return t.executions + t.blocked + t.cut; }
static inline void mz_put_tally(struct mz_message *m, struct mz_tally t) { mz_put_bytes(m, &t, sizeof t); }
static inline struct mz_tally mz_get_tally(struct mz_message *m)
{
    struct mz_tally t;
    mz_get_bytes(m, &t, sizeof t);
    return t;
}

#endif
