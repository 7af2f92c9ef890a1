/* A set of classes, each with how often it was met: for the number of distinct classes, and for estimates how many there
 * are. It needs a bounded amount of memory: when it is full, it goes on with the half of all classes whose hash ends in
 * one zero bit more (`shift`). Hashes are uniform, so these are a fair sample of the classes. */
#ifndef MZ_TRACE_CLASS_SET_H
#define MZ_TRACE_CLASS_SET_H

#include "base/table.h"
#include "trace/class_hash.h"

#define MZ_MOST_CLASSES (1u << 20)

struct mz_class_entry {
    struct mz_class class;
    uint64_t times;
};

struct mz_class_set {
    struct mz_class_entry *entries; /* from 1 */
    struct mz_table table;          /* numbers of entries, by class */
    uint32_t most;                  /* entries that there may be */
    uint32_t shift;
    uint64_t once, twice; /* classes that were met exactly once, and twice */
    uint64_t met;         /* sum of all `times` */
};

/* The memory must be zero. */
void mz_class_set_init(struct mz_class_set *s, uint32_t most);
void mz_class_set_release(struct mz_class_set *s);
void mz_class_set_clear(struct mz_class_set *s);
/* The class was met so often. Return whether it is new. A class that is not counted any more is never new. */
bool mz_class_set_add(struct mz_class_set *s, struct mz_class class, uint64_t times);
/* Count only classes whose hash ends in `shift` zero bits or more. */
void mz_class_set_raise(struct mz_class_set *s, uint32_t shift);
static inline uint32_t mz_class_set_count(const struct mz_class_set *s) { return s->table.count; }

#endif
