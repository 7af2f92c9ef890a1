/* For each execution, the executions that ask for it: the lists of tree.h, inverted. */
#ifndef MZ_SIMULATE_ASKERS_H
#define MZ_SIMULATE_ASKERS_H

#include "tree.h"

struct askers {
    const struct tree *t;
    uint32_t *up;    /* the last execution before it that branches off nearer to the root */
    uint64_t *start; /* by[start[i]] up to start[i + 1] ask for i */
    uint32_t *by;
};

void askers_init(struct askers *a, const struct tree *t);
void askers_free(struct askers *a);
/* At the node of the target, take the branch that execution i is below. Did an execution below it, before i, ask for the
 * target? */
bool asked_before(const struct askers *a, uint32_t target, uint32_t i);

#endif
