/* Hot spots (event/hot_spot.h): which operations the search reorders most often.
 *
 * mz_hot_spot_count() is called once for each execution, when the search goes back to node k and takes another branch
 * there: event k is put off. mz_hot_spots_look() walks over the path, so it is called only after 1, 2, 4, 8, ...
 * executions. Nothing in the search depends on what is counted here. */
#include <string.h>
#include "engine/exploration.h"

#define PROBES 8u

static uint32_t slot_of(uint64_t pc)
{
    return (uint32_t)(pc * UINT64_C(0x9e3779b97f4a7c15) >> 57) % MZ_MAX_HOT_SPOTS;
}

/* The entry of a place, or a free one; NULL: the table is full here. */
static struct mz_hot_spot *find(struct mz_hot_spot *spots, uint64_t pc)
{
    uint32_t slot = slot_of(pc);
    for (uint32_t i = 0; i < PROBES; i++) {
        struct mz_hot_spot *s = &spots[(slot + i) % MZ_MAX_HOT_SPOTS];
        if (s->pc == pc || !s->pc) return s;
    }
    return NULL;
}

void mz_hot_spot_count(struct mz_exploration *x, uint32_t k)
{
    if (k >= x->path.depth) return; /* the new branch could not even start */
    const struct mz_event *e = &x->trace.events[k];
    struct mz_hot_spot *s = e->pc ? find(x->hot.spots, e->pc) : NULL;
    if (!s) return;
    if (!s->pc) *s = (struct mz_hot_spot){.pc = e->pc, .key = e->key, .op = e->op};
    if (s->key != e->key) s->key = 0;
    s->executions++;
}

void mz_hot_spots_look(struct mz_exploration *x)
{
    memset(x->hot.times, 0, sizeof x->hot.times);
    for (uint32_t k = 0; k < x->path.depth; k++) {
        const struct mz_event *e = &x->trace.events[k];
        struct mz_hot_spot *s = e->pc ? find(x->hot.spots, e->pc) : NULL;
        if (!s || !s->pc) continue;
        uint16_t *times = x->hot.times[s - x->hot.spots];
        if (times[e->thread] < UINT16_MAX && ++times[e->thread] > s->times) s->times = times[e->thread];
    }
    for (uint32_t i = 0; i < MZ_MAX_HOT_SPOTS; i++) {
        uint16_t threads = 0;
        for (uint32_t t = 0; t < x->trace.lanes; t++)
            threads = (uint16_t)(threads + (x->hot.times[i][t] > 0));
        if (threads > x->hot.spots[i].threads) x->hot.spots[i].threads = threads;
    }
}

const struct mz_hot_spot *mz_explore_hot_spots(const struct mz_exploration *x) { return x->hot.spots; }
