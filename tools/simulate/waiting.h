/* The branches that wait at the balancer to be handed out, chosen as in src/dist/balance/hand_out.c. Also lists of
 * numbers. */
#ifndef MZ_SIMULATE_WAITING_H
#define MZ_SIMULATE_WAITING_H

#include "simulate.h"

struct list {
    uint32_t *at;
    size_t count, room;
};
void list_add(struct list *l, uint32_t value);

struct waiting {
    const struct tree *t;
    uint8_t *ready;        /* for each execution: it waits */
    uint32_t *below;       /* sums of these: a Fenwick tree */
    uint32_t count;        /* how many there are */
    struct list near_root; /* a heap of these; some are not ready any more */
};

void waiting_init(struct waiting *w, const struct tree *t);
void waiting_free(struct waiting *w);
void waiting_put(struct waiting *w, uint32_t i);
/* Move the waiting execution that is nearest to the root to the end of the list. */
void waiting_take_nearest(struct waiting *w, struct list *to);
/* Move `wanted` waiting executions that lie together (at most as many as there are) to the list, the first one last.
 * Returns the depth of the node that they are below. */
uint32_t waiting_take_batch(struct waiting *w, struct list *to, uint32_t wanted);

void *zeros(size_t bytes);

#endif
