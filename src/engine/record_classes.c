/* Writes the class (Mazurkiewicz trace) of each complete execution as a line of text: --classes. The search
 * itself is that of mz_frontier_own; this file is used only if options.class_log is given. A shared search is
 * not recorded.
 *
 * A line is a normal form: two executions have the same line if and only if they are equivalent. For each
 * thread with events, in the order of the threads' names, it has the thread's name and its events:
 *
 *     0.1: store load<0.2/1; 0.2: store cas<0.1/1
 *
 * `load<0.2/1` happens after the first event of thread 0.2. For each other thread, an event names the last
 * event of that thread that happens before it, unless that event also happens before the previous event of
 * its own thread. So the line is the happens-before relation, and no address is needed: a program does the
 * same operations on the same objects whenever it has the same relation and the same choices. Where an
 * operation had several choices, the choice taken follows it: `choose=2`, `signal=0.3`. */
#include "engine/frontier.h"
#include "base/region.h"
#include "event/tree_file.h"

#define BUFFER ((size_t)1 << 20)
#define ROOM   ((size_t)1 << 14) /* for what one call of put_event() writes: at most 64 names */

_Static_assert(MZ_MAX_THREADS *(sizeof((struct mz_thread_info *)0)->name + 12) < ROOM, "an event fits");

struct mz_class_log {
    char *buffer;
    size_t count;
    bool first;      /* nothing was written yet, or all of it is void */
    mz_number *rank; /* by the number of an event: its position in its thread, from 1 */
};

static void each_array(struct mz_exploration *x, void (*f)(void **array, size_t bytes))
{
    f((void **)&x->class_log->buffer, BUFFER);
    f((void **)&x->class_log->rank, (x->trace.capacity + 1) * sizeof *x->class_log->rank);
}

/* ---- text ---- */

static void flush(struct mz_exploration *x)
{
    struct mz_class_log *l = x->class_log;
    x->options.class_log->write(x->options.system, (const uint8_t *)l->buffer, l->count, l->first);
    l->count = 0;
    l->first = false;
}

static void put(struct mz_class_log *l, const char *text)
{
    while (*text) l->buffer[l->count++] = *text++;
}

static void put_number(struct mz_class_log *l, uint32_t n)
{
    if (n >= 10) put_number(l, n / 10);
    l->buffer[l->count++] = (char)('0' + n % 10);
}

static const char *name_of(const struct mz_exploration *x, int thread)
{
    return x->options.class_log->thread_name(x->options.system, thread);
}

/* Write the name of an operation, with '-' for each space. */
static void put_operation(struct mz_class_log *l, uint8_t op)
{
    for (const char *c = mz_op_name(op); *c; c++) l->buffer[l->count++] = *c == ' ' ? '-' : *c;
}

/* ---- the order of threads ---- */

static uint32_t next_part(const char **name)
{
    uint32_t n = 0;
    while (**name >= '0' && **name <= '9') n = n * 10 + (uint32_t)(*(*name)++ - '0');
    if (**name == '.') ++*name;
    return n;
}

/* 0 < 0.1 < 0.1.1 < 0.2 < 0.10 */
static bool comes_before(const char *a, const char *b)
{
    while (*a && *b) {
        uint32_t m = next_part(&a), n = next_part(&b);
        if (m != n) return m < n;
    }
    return !*a && *b;
}

/* Sort the threads that have events by name; return their number. Thread numbers are no use here: they depend
 * on the order in which the search has met the threads. */
static int sorted_threads(const struct mz_exploration *x, int order[MZ_MAX_THREADS])
{
    int count = 0;
    for (int t = 0; t < MZ_MAX_THREADS; t++) {
        if (!x->trace.thread_event_count[t]) continue;
        int i = count++;
        for (; i && comes_before(name_of(x, t), name_of(x, order[i - 1])); i--) order[i] = order[i - 1];
        order[i] = t;
    }
    return count;
}

/* ---- a class ---- */

static void put_choice(struct mz_exploration *x, const struct mz_event *e)
{
    struct mz_class_log *l = x->class_log;
    unsigned traits = mz_op_info(e->op)->traits;
    if (!(e->choices & (e->choices - 1))) return;
    put(l, "=");
    if ((traits & MZ_TRAIT_CHOOSES) && !(traits & MZ_TRAIT_NUMBERS))
        put(l, name_of(x, e->choice)); /* of the thread that is woken */
    else
        put_number(l, e->choice);
}

/* known[u]: the last event of thread u that happens before the previous event of this thread. */
static void put_event(struct mz_exploration *x, mz_number n, const int *order, int count, mz_number *known)
{
    struct mz_class_log *l = x->class_log;
    const struct mz_event *e = mz_event_at(&x->trace, n);
    const uint32_t *clock = mz_clock_at(&x->trace, e->clock);
    const char *before = "<";
    put(l, " ");
    put_operation(l, e->op);
    put_choice(x, e);
    for (int i = 0; i < count; i++) {
        int u = order[i];
        if (u == e->thread || (uint32_t)u >= x->trace.lanes || clock[u] <= known[u]) continue;
        known[u] = clock[u];
        put(l, before);
        put(l, name_of(x, u));
        put(l, "/");
        put_number(l, l->rank[clock[u]]);
        before = ",";
    }
}

static void put_thread(struct mz_exploration *x, int thread, const int *order, int count)
{
    mz_number known[MZ_MAX_THREADS] = {0};
    put(x->class_log, name_of(x, thread));
    put(x->class_log, ":");
    for (uint32_t i = 0; i < x->trace.thread_event_count[thread]; i++) {
        if (x->class_log->count + ROOM > BUFFER) flush(x);
        put_event(x, x->trace.thread_events[thread][i], order, count, known);
    }
}

static void executed(struct mz_exploration *x)
{
    struct mz_class_log *l = x->class_log;
    int order[MZ_MAX_THREADS], count = sorted_threads(x, order);
    if (x->ending != MZ_ENDING_MAXIMAL || x->cut) return;
    for (int i = 0; i < count; i++)
        for (uint32_t k = 0; k < x->trace.thread_event_count[order[i]]; k++)
            l->rank[x->trace.thread_events[order[i]][k]] = k + 1;
    for (int i = 0; i < count; i++) {
        if (l->count + ROOM > BUFFER) flush(x);
        if (i) put(l, "; ");
        put_thread(x, order[i], order, count);
    }
    if (l->count + ROOM > BUFFER) flush(x);
    put(l, "\n");
}

/* ---- the search ---- */

static void begin(struct mz_exploration *x)
{
    x->class_log->first = true;
    x->class_log->count = 0;
    put(x->class_log, MZ_CLASSES_MAGIC);
}

static void init(struct mz_exploration *x)
{
    x->class_log = mz_region_reserve(sizeof *x->class_log);
    MZ_ASSERT(x->class_log != NULL);
    each_array(x, mz_array_reserve);
    begin(x);
}

static void release(struct mz_exploration *x)
{
    each_array(x, mz_array_release);
    mz_region_free(x->class_log, sizeof *x->class_log);
}

const struct mz_frontier mz_frontier_classes = {
    .may_fall_back = true,
    .init = init,
    .release = release,
    .executed = executed,
    .finished = flush,
    .cleared = begin,
};
