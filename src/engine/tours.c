/* The strategy of a survey: random executions, each with a weight, whose mean is the number of executions of the search.
 *
 * What is counted. Executions that order all conflicting events in the same way are one class; `optimal` runs each class
 * once. A prefix of a class is a class, too: the prefixes of all classes, ordered by "one event more", are a graph with
 * levels. Its root is the empty execution, its sinks are the complete classes.
 *
 * Knuth (1975) counts the leaves of a tree by random walks: the weight of a walk is the product of the numbers of children
 * on its way. Pitt (1987) extends that to graphs with levels: the weight is also divided by the numbers of parents of the
 * nodes on the way. In our graph the parents of a prefix are what remains if one of its maximal events is taken away: an
 * event that happens before no other event of the prefix. Both need not be uniform:
 *
 *   p   a step is drawn among the enabled threads and their choices, with any probabilities above 0
 *   q   for each prefix, its maximal events have any weights above 0 with the sum 1
 *   W   the weight of a walk: the product of q(the event, in the prefix that ends with it) / p(the step)
 *
 * The mean of W is the number of complete classes: the sum over all walks of p * W is that of q over all orders in which
 * the events of each class can happen, and for one class these sum up to 1 (remove the last event of an order, with weight
 * q, again and again). Unlike walks in a tree of sleep sets no walk ends blocked, and W varies less.
 *
 *   p   in proportion to the events that the thread still has to do, as learned from earlier walks
 *   q   in proportion to the events that happen before the maximal event or are it, and before no other maximal event
 *
 * With these, W is constant if all events conflict, or none: the two ends of the scale.
 *
 * Long walks. The logarithm of W is a sum over all steps, so it varies the more the longer a program is, and then almost
 * all of the mean is in walks that are never drawn. So a walk is continued several times, each time with a part of its
 * weight, where its weight is above the mean at its depth, and given up by chance where it is below (Grassberger 1997,
 * "pruned-enriched Rosenbluth method"). That changes no mean: each such decision depends only on what happened before
 * it. All that comes from one start is a *tour*; its value is the sum of the weights of its complete executions. Tours are
 * the samples of the estimate.
 *
 * Executions that the search does not count (x->cut, pruned, too long) have the weight 0.
 *
 * Invariants
 *  T1  maximal[n] is the set of threads whose last event is maximal in the first n events of the path.
 *  T2  branches[] holds what the tour still has to do. Their nodes are on the path, the deepest last.
 *  T3  weight is that of the execution under way: after event(), with p and q of all its events. */
#include "engine/reduction.h"
#include "engine/strategy.h"
#include "engine/tours.h"
#include "base/region.h"

#define WARM          10   /* tours without splitting: the mean weights are not known */
#define MOST_COPIES   4    /* a walk is continued at most this often at one node */
#define MOST_BRANCHES 4096 /* of a tour: then it does not split any more */
#define MOST_LEAVES   256
#define LARGE         4.0L /* split where the weight is this many times the mean at this depth; */
#define SMALL         0.2L /* give up half of the walks where it is less than this */

struct branch { /* a step at a node of the path; the weight includes p of the step */
    long double weight;
    uint32_t node;
    struct mz_step step;
};

struct mz_tours {
    uint64_t random;
    long double weight, total; /* of this execution; of this tour so far */
    uint32_t leaves;           /* executions of this tour that have ended */
    uint32_t branch_count;
    struct mz_tour_sums sums;
    struct branch branches[MOST_BRANCHES];
    long double *at_depth; /* for each depth the sum of the weights there, over all tours */
    uint64_t *maximal;     /* T1 */
    uint32_t *place; /* of each event, by its number: how many events of its thread there are up to it */
    uint64_t events[MZ_MAX_THREADS]; /* of each thread, in all complete executions */
    uint64_t complete;               /* their number */
};

static void each_array(struct mz_exploration *x, void (*f)(void **array, size_t bytes))
{
    size_t n = (size_t)x->trace.capacity + 1;
    f((void **)&x->tours->at_depth, n * sizeof *x->tours->at_depth);
    f((void **)&x->tours->maximal, n * sizeof *x->tours->maximal);
    f((void **)&x->tours->place, n * sizeof *x->tours->place);
}

void mz_tours_init(struct mz_exploration *x)
{
    x->tours = mz_region_reserve(sizeof *x->tours);
    MZ_ASSERT(x->tours != NULL);
    each_array(x, mz_array_reserve);
    x->tours->random = x->options.survey;
    x->tours->weight = 1;
}

void mz_tours_release(struct mz_exploration *x)
{
    each_array(x, mz_array_release);
    mz_region_free(x->tours, sizeof *x->tours);
}

struct mz_tour_sums mz_explore_tours(const struct mz_exploration *x) { return x->tours->sums; }

/* ---- chance ---- */

/* Between 0 and 1, both excluded. */
static double chance(struct mz_tours *t)
{
    uint64_t z = t->random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return ((double)((z ^ z >> 31) >> 12) + 0.5) * 0x1p-52;
}

/* The events that a thread is expected to do yet; at least one, as it is enabled. */
static double left_of(const struct mz_exploration *x, int thread)
{
    const struct mz_tours *t = x->tours;
    if (!t->complete) return 1;
    double left = (double)t->events[thread] / (double)t->complete - x->trace.thread_event_count[thread];
    return left < 1 ? 1 : left;
}

/* Draw a step at node k. Return its probability p. */
static double draw(struct mz_exploration *x, uint32_t k, struct mz_step *step)
{
    uint64_t enabled = x->nodes[k].enabled;
    double left[MZ_MAX_THREADS], sum = 0;
    for (uint64_t e = enabled; e; e &= e - 1)
        sum += left[__builtin_ctzll(e)] = left_of(x, __builtin_ctzll(e));
    double at = chance(x->tours) * sum;
    int thread = __builtin_ctzll(enabled);
    for (uint64_t e = enabled & (enabled - 1); e && at >= left[thread]; e &= e - 1) {
        at -= left[thread];
        thread = __builtin_ctzll(e);
    }
    uint64_t choices = x->view->pending[thread].choices;
    unsigned count = (unsigned)__builtin_popcountll(choices);
    for (unsigned i = count > 1 ? (unsigned)(chance(x->tours) * count) : 0; i; i--) choices &= choices - 1;
    *step = (struct mz_step){.thread = (uint8_t)thread, .choice = (uint8_t)__builtin_ctzll(choices)};
    return left[thread] / sum / count;
}

/* ---- weights ---- */

/* The number of events of thread q in a clock. */
static uint32_t known_of(const struct mz_exploration *x, mz_clock clock, uint32_t q)
{
    mz_number n = mz_clock_at(&x->trace, clock)[q];
    return n ? x->tours->place[n] : 0;
}

static mz_clock clock_of_last(const struct mz_exploration *x, int thread)
{
    const struct mz_trace *tr = &x->trace;
    mz_number last = tr->thread_events[thread][tr->thread_event_count[thread] - 1];
    return mz_event_at(tr, last)->clock;
}

/* q of the last event of the thread: it and the events that it alone covers, as a part of the sum over all maximal
 * events. */
static double part_of(const struct mz_exploration *x, uint64_t maximal, int thread)
{
    double own[MZ_MAX_THREADS] = {0}, sum = 0;
    for (uint32_t q = 0; q < x->trace.lanes; q++) {
        uint32_t most = 0, second = 0;
        int of = 0;
        for (uint64_t m = maximal; m; m &= m - 1) {
            uint32_t n = known_of(x, clock_of_last(x, __builtin_ctzll(m)), q);
            if (n > most)
                second = most, most = n, of = __builtin_ctzll(m);
            else if (n > second)
                second = n;
        }
        own[of] += most - second;
        sum += most - second;
    }
    return own[thread] / sum;
}

/* Event n has happened: T1 for it. */
static uint64_t maximal_after(const struct mz_exploration *x, mz_number n)
{
    const struct mz_event *e = mz_event_at(&x->trace, n);
    const uint32_t *clock = mz_clock_at(&x->trace, e->clock);
    uint64_t maximal = x->tours->maximal[n - 1] & ~mz_bit(e->thread);
    for (uint64_t m = maximal; m; m &= m - 1) {
        int t = __builtin_ctzll(m);
        if (clock[t] >= x->trace.thread_events[t][x->trace.thread_event_count[t] - 1]) maximal &= ~mz_bit(t);
    }
    return maximal | mz_bit(e->thread);
}

static void event(struct mz_exploration *x, mz_number n, uint32_t races)
{
    struct mz_tours *t = x->tours;
    x->trace.race_count -= races;
    if (!n) return;
    mz_sleep_none(x, n);
    int thread = mz_event_at(&x->trace, n)->thread;
    t->place[n] = x->trace.thread_event_count[thread];
    t->maximal[n] = maximal_after(x, n);
    if (t->maximal[n] != mz_bit(thread)) t->weight *= part_of(x, t->maximal[n], thread);
}

/* ---- executions ---- */

/* The weight at depth k compared with the mean there: how many times to continue. The weight becomes that of each copy. */
static unsigned copies(struct mz_tours *t, uint32_t k)
{
    t->at_depth[k] += t->weight;
    if (t->sums.tours < WARM) return 1;
    long double ratio = t->weight / t->at_depth[k] * (long double)(t->sums.tours + 1);
    if (ratio < SMALL) {
        t->weight *= 2;
        return chance(t) < 0.5;
    }
    if (ratio < LARGE || t->leaves >= MOST_LEAVES || t->branch_count + MOST_COPIES > MOST_BRANCHES) return 1;
    unsigned count = ratio < MOST_COPIES ? (unsigned)ratio : MOST_COPIES;
    t->weight /= count;
    return count;
}

static struct mz_step choose(struct mz_exploration *x, uint32_t k)
{
    struct mz_tours *t = x->tours;
    struct mz_step step;
    if (!x->nodes[k].enabled) return mz_nobody(x, MZ_ENDING_MAXIMAL);
    unsigned count = copies(t, k);
    if (!count) return mz_nobody(x, MZ_ENDING_ASLEEP);
    long double weight = t->weight;
    while (--count) {
        double p = draw(x, k, &step);
        t->branches[t->branch_count++] = (struct branch){weight / p, k, step};
    }
    t->weight = weight / draw(x, k, &step);
    return step;
}

/* A complete execution that counts. */
static void add_leaf(struct mz_exploration *x)
{
    struct mz_tours *t = x->tours;
    t->total += t->weight;
    t->complete++;
    for (uint32_t i = 0; i < x->trace.lanes; i++) t->events[i] += x->trace.thread_event_count[i];
}

/* The binary logarithm. (The target does not link libm.) */
static long double logarithm(long double value)
{
    long double result;
    __asm__("fyl2x" : "=t"(result) : "0"(value), "u"(1.0L) : "st(1)");
    return result;
}

static void end_tour(struct mz_exploration *x)
{
    struct mz_tours *t = x->tours;
    t->sums.tours++;
    t->sums.sum += t->total;
    t->sums.squares += t->total * t->total;
    if (t->total > 0) {
        long double log = logarithm(t->total);
        t->sums.hits++;
        t->sums.logs += log;
        t->sums.log_squares += log * log;
    }
    t->total = 0;
    t->leaves = 0;
    t->weight = 1;
    mz_rewind_all(x);
}

void mz_tours_reuse(struct mz_exploration *x)
{
    struct mz_tours *t = x->tours;
    uint64_t random = t->random;
    each_array(x, mz_array_release);
    *t = (struct mz_tours){.random = random, .weight = 1};
    each_array(x, mz_array_reserve);
}

/* What was learned is void. */
static void start_over(struct mz_exploration *x)
{
    mz_tours_reuse(x);
    mz_start_over(x);
}

static bool end(struct mz_exploration *x)
{
    struct mz_tours *t = x->tours;
    mz_count_execution(x);
    if (x->ending == MZ_ENDING_DIVERGED || x->ending == MZ_ENDING_MEMORY) return false;
    if (x->trace.outdated) {
        start_over(x);
        return true;
    }
    t->leaves++;
    if (x->ending == MZ_ENDING_STEP_LIMIT) t->sums.too_long++;
    if (x->ending == MZ_ENDING_MAXIMAL && !x->cut) add_leaf(x);
    if (!t->branch_count) {
        end_tour(x);
        return true;
    }
    const struct branch *b = &t->branches[--t->branch_count];
    t->weight = b->weight;
    x->nodes[b->node].step = b->step;
    mz_rewind_to(x, b->node);
    return true;
}

const struct mz_strategy mz_strategy_tours = {.choose = choose, .event = event, .end = end};
