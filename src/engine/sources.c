/* Which write serves a read: the engine's side of a memory model (program.h, docs/adding/memory-model.md).
 *
 * Under a memory model the choices of an operation that reads memory are its sources, so a reduction that
 * takes all choices explores all sources. The step that is taken names its source, and the engine supplies
 * the value of the source in path.served. Without a memory model this file is not used: the newest value
 * serves every read. */
#include "engine/exploration.h"

/* Can an older value serve the operation? A value must fit into an event. */
static bool reads_memory(const struct mz_pending *p)
{
    return p->size && p->size <= 8 && !p->direct && mz_op_in(MZ_OPS_VALUE, p->op);
}

uint64_t mz_source_choices(const struct mz_exploration *x, int thread)
{
    const struct mz_pending *p = &x->view->pending[thread];
    mz_number sources[MZ_MOST_SOURCES];
    if (!reads_memory(p)) return p->choices;
    unsigned n = x->options.memory->sources(x, thread, p, sources);
    MZ_ASSERT(n > 0 && n <= MZ_MOST_SOURCES);
    return n < 64 ? mz_bit((int)n) - 1 : ~(uint64_t)0;
}

void mz_source_serve(struct mz_exploration *x, struct mz_step *step)
{
    const struct mz_pending *p = &x->view->pending[step->thread];
    mz_number sources[MZ_MOST_SOURCES];
    step->source = MZ_SOURCE_NEWEST;
    if (!reads_memory(p)) return;
    x->options.memory->sources(x, step->thread, p, sources);
    step->source = sources[step->choice];
    if (step->source != MZ_SOURCE_NEWEST)
        x->path.served[x->path.depth] = mz_explore_value(x, mz_object_of(&x->trace, p), step->source);
}

uint64_t mz_explore_value(const struct mz_exploration *x, uint32_t object, mz_number source)
{
    mz_number n = x->trace.objects[object].last;
    if (source != MZ_SOURCE_INITIAL) return x->values[source - 1];
    while (mz_event_at(&x->trace, n)->prev_object) n = mz_event_at(&x->trace, n)->prev_object;
    return mz_event_at(&x->trace, n)->old;
}
