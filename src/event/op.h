/* Operations of a program: the vocabulary that the runtime, the engine, the model, trace files and reports share.
 *
 * op.def lists every operation with all its properties. From that list this header makes the enum, the table
 * mz_ops[] and, for hot paths, sets of operations that are compile-time constants. Code asks for a property
 * of an operation; it compares an operation with MZ_OP_X only if it implements X itself. */
#ifndef MZ_EVENT_OP_H
#define MZ_EVENT_OP_H

#include <stdbool.h>
#include <stdint.h>

enum mz_op {
#define OP(name, ...) MZ_OP_##name,
#include "event/op.def"
    MZ_OP_COUNT
};

enum mz_object_kind {
#define OBJECT(name, ...) MZ_OBJECT_##name,
#include "event/op.def"
    MZ_OBJECT_COUNT
};

/* How an event uses its object. Two events of different threads on one object are dependent unless both read
 * or both share. A share is a change of the object that commutes with other shares: taking or releasing a
 * read lock. For operations that may fail (MZ_TRAIT_FAILS), only the event itself shows the access. */
enum mz_access { MZ_READS = 0, MZ_WRITES = 1, MZ_SHARES = 2 };

/* The properties of an operation: op.def says what they mean. */
enum mz_op_when { MZ_WHEN_LOCAL, MZ_WHEN_VISIBLE, MZ_WHEN_PLAIN };
enum mz_need {
    MZ_NEEDS_ANY,
    MZ_NEEDS_EXPECTED,
    MZ_NEEDS_FREE,
    MZ_NEEDS_COUNT,
    MZ_NEEDS_NO_WRITER,
    MZ_NEEDS_NO_HOLDER,
    MZ_NEEDS_CONDITION,
    MZ_NEEDS_MESSAGE
};
#define MZ_TRAIT_BLOCKS   0x001u
#define MZ_TRAIT_FAILS    0x002u
#define MZ_TRAIT_WAITS    0x004u
#define MZ_TRAIT_LEAVES   0x008u
#define MZ_TRAIT_WAKES    0x010u
#define MZ_TRAIT_CHOOSES  0x020u
#define MZ_TRAIT_SIMPLE   0x040u
#define MZ_TRAIT_UPDATES  0x080u
#define MZ_TRAIT_ENDS     0x100u
#define MZ_TRAIT_OTHER    0x200u
#define MZ_TRAIT_HIDDEN   0x400u
#define MZ_TRAIT_NUMBERS  0x800u
#define MZ_TRAIT_RELEASES 0x1000u
#define MZ_TRAIT_REPEATS  0x2000u

/* What a row of a schedule shows after the operation's text. */
enum mz_op_shows {
    MZ_SHOW_OBJECT,  /* its object, and .failed */
    MZ_SHOW_ACCESS,  /* its object with the values before and after, and whether it races */
    MZ_SHOW_OUTCOME, /* its object, and the value, or .failed in place of it */
    MZ_SHOW_WOKEN,   /* its object, and the thread that it wakes, or .failed */
    MZ_SHOW_THREAD,  /* the other thread, and .failed */
    MZ_SHOW_VALUE,   /* only the value */
    MZ_SHOW_TEXT,    /* nothing */
    MZ_SHOW_WAKING,  /* in place of the text: "wakes" and the other thread */
    MZ_SHOW_FINDING  /* in place of the text: the finding */
};

struct mz_op_info {
    const char *text;
    uint8_t when;   /* enum mz_op_when */
    uint8_t object; /* enum mz_object_kind */
    uint8_t access; /* enum mz_access */
    uint8_t needs;  /* enum mz_need */
    uint16_t traits;
    uint8_t shows; /* enum mz_op_shows */
    const char *joint, *failed, *waits, *verb[2], *noun;
};
extern const struct mz_op_info mz_ops[MZ_OP_COUNT];

enum mz_named { MZ_NAMED_NONE, MZ_NAMED_BYTES, MZ_NAMED_START, MZ_NAMED_FUNCTION };
struct mz_object_info {
    uint8_t named; /* enum mz_named */
    const char *itself, *held;
};
extern const struct mz_object_info mz_object_kinds[MZ_OBJECT_COUNT];

/* Returns the row of an operation, or the row of NONE if the number is not an operation: for numbers from
 * files and messages. */
const struct mz_op_info *mz_op_info(unsigned op);
/* Returns the name in reports and JSON; "?" if the number is not an operation. */
const char *mz_op_name(enum mz_op op);

/* Sets of operations, one bit for each: compile-time constants, so that a test costs a shift and not a load. */
_Static_assert(MZ_OP_COUNT <= 64, "a set of operations is a uint64_t");
#define MZ_OP_IF(name, condition) | (uint64_t)((condition) ? 1 : 0) << MZ_OP_##name
/* __extension__: some of the enumerators do not fit into an int. */
__extension__ enum {
/* Atomic accesses: LOAD, STORE, RMW, CAS. */
#define OP(name, text, when, object, ...)                                                                    \
    MZ_OP_IF(name, MZ_WHEN_##when == MZ_WHEN_VISIBLE && MZ_OBJECT_##object == MZ_OBJECT_MEMORY)
    MZ_OPS_ATOMIC = 0
#include "event/op.def"
    ,
/* Operations on memory whose outcome depends on the value that they read: LOAD, RMW, CAS; and WAIT, if its
 * object has a size (a futex). */
#define OP(name, text, when, object, access, needs, traits, ...)                                             \
    MZ_OP_IF(name, (MZ_WHEN_##when == MZ_WHEN_VISIBLE && MZ_OBJECT_##object == MZ_OBJECT_MEMORY &&           \
                    (MZ_##access == MZ_READS || ((traits)&MZ_TRAIT_UPDATES))) ||                             \
                       ((traits)&MZ_TRAIT_WAITS))
    MZ_OPS_VALUE = 0
#include "event/op.def"
    ,
/* Operations that work with the waiters of their object. On an object with a size they are futex operations. */
#define OP(name, text, when, object, access, needs, traits, ...)                                             \
    MZ_OP_IF(name, (traits) & (MZ_TRAIT_WAITS | MZ_TRAIT_LEAVES | MZ_TRAIT_WAKES))
    MZ_OPS_WAITERS = 0
#include "event/op.def"
    ,
#define OP(name, text, when, object, access, needs, traits, ...) MZ_OP_IF(name, (traits)&MZ_TRAIT_WAKES)
    MZ_OPS_WAKE = 0
#include "event/op.def"
    ,
#define OP(name, text, when, object, access, needs, traits, ...) MZ_OP_IF(name, (traits)&MZ_TRAIT_BLOCKS)
    MZ_OPS_BLOCK = 0
#include "event/op.def"
    ,
#define OP(name, text, when, object, access, needs, traits, ...) MZ_OP_IF(name, (traits)&MZ_TRAIT_FAILS)
    MZ_OPS_FAIL = 0
#include "event/op.def"
    ,
/* Operations that make their thread the only holder of the object. */
#define OP(name, text, when, object, access, needs, ...)                                                     \
    MZ_OP_IF(name, MZ_NEEDS_##needs == MZ_NEEDS_FREE || MZ_NEEDS_##needs == MZ_NEEDS_NO_HOLDER)
    MZ_OPS_ACQUIRE = 0
#include "event/op.def"
    ,
#define OP(name, text, when, object, access, needs, traits, ...) MZ_OP_IF(name, (traits)&MZ_TRAIT_RELEASES)
    MZ_OPS_RELEASE = 0
#include "event/op.def"
    ,
#define OP(name, text, when, object, access, needs, traits, ...) MZ_OP_IF(name, (traits)&MZ_TRAIT_CHOOSES)
    MZ_OPS_CHOOSE = 0
#include "event/op.def"
    ,
#define OP(name, text, when, object, access, needs, traits, ...) MZ_OP_IF(name, (traits)&MZ_TRAIT_REPEATS)
    MZ_OPS_REPEAT = 0
#include "event/op.def"
    ,
#define OP(name, text, when, object, access, needs, traits, ...) MZ_OP_IF(name, (traits)&MZ_TRAIT_SIMPLE)
    MZ_OPS_SIMPLE = 0
#include "event/op.def"
};

/* Is the operation in the set? The number must be that of an operation. */
static inline bool mz_op_in(uint64_t set, uint8_t op) { return set >> op & 1; }

#endif
