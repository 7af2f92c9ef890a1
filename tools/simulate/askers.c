/* Who asks for an execution: see askers.h. */
#include "askers.h"

#include <stdlib.h>
#include "waiting.h"

static void find_up(struct askers *a)
{
    const struct tree *t = a->t;
    a->up = memory(NULL, t->count * sizeof *a->up);
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t j = i ? i - 1 : 0;
        while (j && t->node[j] >= t->node[i]) j = a->up[j];
        a->up[i] = j;
    }
}

void askers_init(struct askers *a, const struct tree *t)
{
    uint64_t count = t->ask_start[t->count];
    *a = (struct askers){
        .t = t, .start = zeros((t->count + 2) * sizeof *a->start), .by = memory(NULL, count * sizeof *a->by)};
    for (uint64_t k = 0; k < count; k++) a->start[t->ask[k] + 2]++;
    for (uint32_t i = 0; i <= t->count; i++) a->start[i + 1] += a->start[i];
    for (uint32_t i = 0; i < t->count; i++)
        for (uint64_t k = t->ask_start[i]; k < t->ask_start[i + 1]; k++) a->by[a->start[t->ask[k] + 1]++] = i;
    find_up(a);
}

void askers_free(struct askers *a)
{
    free(a->up);
    free(a->start);
    free(a->by);
}

bool asked_before(const struct askers *a, uint32_t target, uint32_t i)
{
    uint32_t first = i;
    while (first && a->t->node[first] > a->t->node[target]) first = a->up[first];
    for (uint64_t k = a->start[target]; k < a->start[target + 1]; k++)
        if (a->by[k] >= first && a->by[k] < i) return true;
    return false;
}
