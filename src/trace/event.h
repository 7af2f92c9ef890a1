/* Operations that threads are about to do, and events: operations that have happened. Shared by the engine, the
 * balancer and the systems under test (engine/program.h). Types only. */
#ifndef MZ_TRACE_EVENT_H
#define MZ_TRACE_EVENT_H

#include <stdbool.h>
#include <stdint.h>
#include "event/channel.h"
#include "event/op.h"

#define MZ_NOBODY 255

struct mz_pending {
    uint64_t key; /* the object: an address, or a number in a model */
    /* CAS: the value it needs to find (wider ones are RMW); RESUME: see program.h; else 0 */
    uint64_t expected;
    uint64_t pc;      /* where in the program; not used by the engine */
    uint64_t choices; /* set of possible choices, bit i = choice i; never empty; 1 for most operations */
    uint8_t op;       /* enum mz_op */
    uint8_t size;     /* bytes, for memory operations */
    uint8_t access;   /* enum mz_access that it would have if it happened now */
    uint8_t order;    /* atomic accesses: the C11 memory order (__ATOMIC_...); of all others 0 */
    uint8_t failure;  /* CAS: the memory order if it fails; of all others the same as `order` */
    uint8_t direct;   /* an instruction of the program accesses memory itself: it gets the newest value */
};

typedef uint32_t mz_clock;  /* index of a clock in struct mz_trace; 0 is the empty clock */
typedef uint32_t mz_number; /* index of an event plus one; 0 is none */

struct mz_event {
    uint64_t key;
    uint64_t old;      /* the state of the object before the event; engine/program.h says what it is */
    uint64_t expected; /* as in mz_pending, or what mz_explore_note() has stored */
    uint64_t choices;  /* all choices there were */
    uint64_t pc;
    uint32_t object;
    mz_number prev_object;  /* the event before this one on the same object */
    mz_clock clock, before; /* of this event; of its thread just before it */
    uint8_t thread, op, access, choice, size;
    uint8_t order; /* memory order that took effect: pending.failure if it only read, else pending.order */
};

/* One step of a sequence, with what is needed to decide conflicts: in sleep sets, in wakeup trees, in the sequence v
 * of a race. */
struct mz_elem {
    uint32_t object; /* 0: conflicts with nothing */
    uint8_t thread, access, choice, op;
};
#define MZ_ANY 255 /* a choice that is still to be made: the first one that is possible */

/* The state of a read-write lock, in event.old (engine/program.h says more). */
#define MZ_RW_READERS UINT64_C(0xffff)         /* number of readers */
#define MZ_RW_WRITER  (UINT64_C(1) << 16)      /* a writer holds the lock */
#define MZ_RW_ORDERED (UINT64_C(1) << 17)      /* the lock is ordered: set in all its states, or in none */
#define MZ_RW_CLAIMS  (UINT64_C(0xffff) << 32) /* number of claims */

/* The key of an await: the set of the objects that its condition may read, as numbers below MZ_AWAITED. The highest
 * member stands for all memory. The key of a cell of a channel: see mz_cell_key. No program has memory at these keys. */
#define MZ_AWAITED    31
#define MZ_AWAITS_ALL (UINT32_C(1) << MZ_AWAITED)
#define MZ_AWAIT_KEYS (UINT64_C(0xfffe0000) << 32)
static inline uint64_t mz_await_key(uint32_t members) { return MZ_AWAIT_KEYS | members; }
static inline bool mz_is_await_key(uint64_t key) { return key >> 32 == MZ_AWAIT_KEYS >> 32; }

/* A message is found by its tag and by its number among the messages with that tag: in `expected` of the operations on
 * channels. Its cell is an object of its own. The last cell of a tag stands for all later messages. */
#define MZ_TAGS  8
#define MZ_CELLS 4000
static inline uint64_t mz_message(unsigned tag, uint32_t number) { return (uint64_t)tag << 32 | number; }
static inline uint64_t mz_cell_key(uint64_t channel, uint64_t message)
{
    uint64_t number = (uint32_t)message < MZ_CELLS ? (uint32_t)message : MZ_CELLS;
    return channel | ((message >> 32 << 12 | number) + 1) << 48;
}
static inline bool mz_is_cell_key(uint64_t key) { return key >> 48 && key >> 48 <= MZ_TAGS << 12; }
static inline uint64_t mz_channel_of_cell(uint64_t key) { return key & (UINT64_MAX >> 16); }

/* An event on memory that has not happened in a state that is only imagined (await.c): the value to be put back, or the
 * amount to be taken off. */
struct mz_unwritten {
    uint64_t key, value;
    uint8_t size;
    bool adds;
};

static inline uint64_t mz_bit(int thread) { return (uint64_t)1 << thread; }
static inline bool mz_has_choices(uint8_t op) { return mz_op_in(MZ_OPS_CHOOSE, op); }
static inline struct mz_elem mz_elem_of(const struct mz_event *e)
{
    return (struct mz_elem){e->object, e->thread, e->access, e->choice, e->op};
}
/* Are two accesses to one object dependent? Not if both read or both share. */
static inline bool mz_access_conflict(uint8_t a, uint8_t b) { return (a ^ b) | (a & MZ_WRITES); }

#endif
