/* A trace as a whole: its memory, and adding and taking back events. See trace.h. */
#include "base/region.h"
#include "trace/race.h"

#define FIRST_OBJECTS 1024u
#define MAX_CAPACITY  (16u << 20)

/* Stagger the lists of threads: if all began at the same offset of a page, their beginnings would push each
 * other out of the cache. */
static size_t list_stride(const struct mz_trace *tr)
{
    return ((size_t)tr->capacity + 1023) / 1024 * 1024 + 48;
}

/* All arrays of a trace, with their sizes, in one place for reserving and freeing. */
static void each_array(struct mz_trace *tr, bool for_messages, void (*f)(void **array, size_t bytes))
{
    size_t n = tr->capacity;
    struct mz_sequence *v = &tr->sequence;
    f((void **)&tr->events, n * sizeof *tr->events);
    f((void **)&tr->journal, tr->journal_capacity * sizeof *tr->journal);
    f((void **)&tr->clocks, (size_t)tr->clock_capacity * MZ_MAX_THREADS * sizeof *tr->clocks);
    f((void **)&tr->recent, tr->clock_capacity * sizeof *tr->recent);
    f((void **)&tr->briefs, (n + 1) * sizeof *tr->briefs);
    f((void **)&tr->objects, MZ_OBJECT_TABLE / 2 * sizeof *tr->objects);
    f((void **)&tr->object_table.slots, MZ_OBJECT_TABLE * sizeof *tr->object_table.slots);
    f((void **)&tr->races, (68 * n + MZ_MAX_THREADS + MZ_AWAIT_RACES) * sizeof *tr->races);
    f((void **)&tr->firsts, MZ_MAX_THREADS * (n + MZ_MAX_THREADS + MZ_AWAIT_RACES) * sizeof *tr->firsts);
    f((void **)&tr->shared, n * sizeof *tr->shared);
    f((void **)&tr->unwritten, n * sizeof *tr->unwritten);
    f((void **)&tr->wakeup.nodes, (size_t)MZ_WAKEUP_NODES * sizeof *tr->wakeup.nodes);
    f((void **)&v->elems, (n + 1) * sizeof *v->elems);
    f((void **)&v->needed, (n + 1) * sizeof *v->needed);
    f((void **)&v->next_of_thread, (n + 1) * sizeof(uint32_t));
    f((void **)&v->next_of_object, (n + 1) * sizeof(uint32_t));
    f((void **)&v->next_conflict, (n + 1) * sizeof(uint32_t));
    f((void **)&v->first_of_object, MZ_OBJECT_TABLE / 2 * sizeof(uint32_t));
    f((void **)&v->numbers, (n + 1) * sizeof *v->numbers);
    f((void **)&v->stamp_of_object, MZ_OBJECT_TABLE / 2 * sizeof(uint32_t));
    f((void **)&tr->thread_event_lists, MZ_MAX_THREADS * list_stride(tr) * sizeof(mz_number));
    if (!for_messages) return;
    f((void **)&v->clocks, (n + 1) * MZ_MAX_THREADS * sizeof *v->clocks);
    f((void **)&tr->wakeup.stack, n * sizeof *tr->wakeup.stack);
}

void mz_array_reserve(void **array, size_t bytes)
{
    *array = mz_region_reserve(bytes);
    MZ_ASSERT(*array != NULL);
}

void mz_array_release(void **array, size_t bytes)
{
    mz_region_free(*array, bytes);
    *array = NULL;
}

void mz_trace_init(struct mz_trace *tr, uint64_t max_steps, bool for_messages)
{
    uint32_t capacity = tr->capacity =
        (uint32_t)(max_steps && max_steps < MAX_CAPACITY - 2 ? max_steps + 2 : MAX_CAPACITY);
    /* An event needs one clock and up to five entries of the journal. What its step wakes, joins and releases needs
     * more. */
    tr->clock_capacity = 16 * capacity + (1u << 16) + MZ_AWAIT_RACES;
    tr->journal_capacity = 64 * capacity + (1u << 20);
    each_array(tr, for_messages, mz_array_reserve);
    for (size_t t = 0; t < MZ_MAX_THREADS; t++)
        tr->thread_events[t] = tr->thread_event_lists + t * list_stride(tr);
    tr->clock_count = 1;
    tr->object_count = 1;
    tr->object_table.mask = FIRST_OBJECTS - 1;
    tr->wakeup.count = 1;
    tr->lanes = 8;
}

void mz_trace_release(struct mz_trace *tr, bool for_messages)
{
    each_array(tr, for_messages, mz_array_release);
}

#define MARGIN (1u << 16)
bool mz_trace_full(const struct mz_trace *tr)
{
    return tr->object_count + MARGIN > MZ_OBJECT_TABLE / 2 || tr->clock_count + MARGIN > tr->clock_capacity ||
           tr->journal_count + MARGIN > tr->journal_capacity;
}

void mz_trace_add(struct mz_trace *tr, mz_number n)
{
    struct mz_event *e = mz_event_at(tr, n);
    int thread = e->thread;
    tr->count = n;
    e->prev_object = 0;
    e->before = tr->thread_clock[thread];
    mz_clock_widen(tr, thread);
    mz_dependence_event(tr, n);
    mz_journal_set(tr, &tr->thread_clock[thread], e->clock);
    tr->thread_events[thread][tr->thread_event_count[thread]] = n;
    mz_journal_set(tr, &tr->thread_event_count[thread], tr->thread_event_count[thread] + 1);
}

void mz_trace_rewind(struct mz_trace *tr, uint32_t count, struct mz_trace_mark mark)
{
    mz_journal_undo(tr, mark.journal);
    tr->clock_count = mark.clocks;
    tr->race_count = mark.races;
    tr->count = count;
}

void mz_trace_clear(struct mz_trace *tr)
{
    mz_trace_rewind(tr, 0, (struct mz_trace_mark){.journal = 0, .races = 0, .clocks = 1});
}

void mz_trace_reuse(struct mz_trace *tr)
{
    mz_trace_clear(tr);
    tr->sections = 0;
    tr->outdated = tr->across = tr->all_awaited = tr->crowded = false;
    mz_object_forget_awaited(tr);
}
