/* Hot spots: the operations that the search reorders most often. A part of the channel (event/channel.h).
 *
 * Every execution but the first begins where an operation of the execution before is put off: another step takes its
 * place. That execution counts for the place in the program of the operation that was put off. The sum over all places
 * is the number of executions that began so, which explains why a search is large. */
#ifndef MZ_EVENT_HOT_SPOT_H
#define MZ_EVENT_HOT_SPOT_H

#include <stdint.h>

#define MZ_MAX_HOT_SPOTS 128u /* places; executions of further places are counted together */

struct mz_hot_spot {
    uint64_t pc;         /* place in the program; 0: this entry is free */
    uint64_t key;        /* the object; 0: several objects */
    uint64_t executions; /* that began with another step in place of this operation */
    uint16_t threads; /* number of threads with this operation, the largest of all executions looked at ... */
    uint16_t times;   /* ... and how often a single thread had it */
    uint8_t op, reserved[3];
};

#endif
