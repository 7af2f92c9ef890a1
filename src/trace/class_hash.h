/* The class of an execution as a hash of 128 bits: equal for two executions if and only if they are equivalent
 * (Mazurkiewicz), except by chance. Also of prefixes.
 *
 * The canonical form of an execution is the set of its events, each as: its thread, its position in the thread, the
 * choice taken if there were several, and for each other thread the position of its last event that happens before. Two
 * executions are equivalent if and only if they have the same set. The hash is the sum over the events of a hash of each.
 * So it does not depend on the order of independent events, and the sum up to event n is the hash of that prefix.
 *
 * No address and no number of a thread is part of it, only the names of threads (0.1: the first thread that thread 0 has
 * created): all processes that run one program agree on the hash. */
#ifndef MZ_TRACE_CLASS_HASH_H
#define MZ_TRACE_CLASS_HASH_H

#include "trace/trace.h"

struct mz_class {
    uint64_t a, b;
};

struct mz_class_hash {
    const char *(*thread_name)(void *system, int thread); /* NULL: the number of the thread */
    void *system;
    struct mz_class names[MZ_MAX_THREADS]; /* hashes of the names of threads; 0: not known yet */
    /* By the number of an event, for events [1, trace.count]: hash of (thread, position), and of the prefix that ends
     * with the event. forms[0] is 0, the empty prefix. */
    struct mz_class *ids, *forms;
    size_t capacity;
};

/* The memory must be zero. */
void mz_class_hash_init(struct mz_class_hash *h, uint32_t capacity);
void mz_class_hash_release(struct mz_class_hash *h);
/* Event n has just been added to the trace. */
void mz_class_hash_event(struct mz_class_hash *h, const struct mz_trace *tr, mz_number n);

#endif
