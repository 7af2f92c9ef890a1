/* Threads without branches as a system under test: see fake.h. */
#include "fake.h"

#include <stdlib.h>
#include <string.h>

uint64_t fake_key(char letter) { return 0x1000u + 64u * (unsigned char)letter; }

static struct mz_pending pending_of(const struct fake *f, int thread)
{
    char what = f->at[thread][0], on = f->at[thread][1];
    struct mz_pending p = {.key = fake_key(on),
                           .choices = 1,
                           .size = 4,
                           .access = MZ_WRITES,
                           .order = __ATOMIC_RELEASE,
                           .failure = __ATOMIC_ACQUIRE};
    switch (what) {
    case 'r':
        p.op = MZ_OP_LOAD, p.access = MZ_READS;
        break;
    case 'w':
        p.op = MZ_OP_STORE;
        break;
    case '+':
        p.op = MZ_OP_RMW;
        break;
    case 'L':
        p.op = MZ_OP_LOCK, p.size = p.order = p.failure = 0;
        break;
    default: /* c: an object of its own, for each place in the program */
        p.op = MZ_OP_CHOOSE, p.size = p.order = p.failure = 0;
        p.choices = (UINT64_C(1) << (on - '0')) - 1;
        p.key = 0x100000u + 0x1000u * (unsigned)thread + 64u * (unsigned)(f->at[thread] - f->code[thread]);
    }
    return p;
}

/* The thread is at its next visible operation, or at its end. */
static void publish(struct fake *f, int thread)
{
    while (*f->at[thread] == 'U') {
        f->owner[(unsigned char)f->at[thread][1]] = 0;
        mz_explore_release(f->x, thread, fake_key(f->at[thread][1]));
        f->at[thread] += f->at[thread][2] ? 3 : 2;
    }
    if (*f->at[thread]) {
        f->view.pending[thread] = pending_of(f, thread);
        return;
    }
    f->view.alive &= ~(UINT64_C(1) << thread);
    f->view.pending[thread] = (struct mz_pending){.op = MZ_OP_NONE, .choices = 1};
}

static void update_enabled(struct fake *f)
{
    f->view.enabled = 0;
    for (int t = 0; t < FAKE_THREADS; t++) {
        if (!(f->view.alive >> t & 1)) continue;
        bool waits = f->at[t][0] == 'L' && f->owner[(unsigned char)f->at[t][1]];
        if (!waits) f->view.enabled |= UINT64_C(1) << t;
    }
}

static void begin(struct fake *f)
{
    memset(&f->view, 0, sizeof f->view);
    memset(f->owner, 0, sizeof f->owner);
    memset(f->value, 0, sizeof f->value);
    memset(f->seen, 0, sizeof f->seen);
    memset(f->reads, 0, sizeof f->reads);
    mz_explore_begin(f->x);
    for (int t = 0; t < FAKE_THREADS; t++) {
        if (!f->code[t]) continue;
        f->at[t] = f->code[t];
        f->view.alive |= UINT64_C(1) << t;
        publish(f, t);
    }
    update_enabled(f);
}

/* Read or write the variable: the value that the engine supplies, or the newest. */
static void perform(struct fake *f, struct mz_step s)
{
    const struct mz_path *path = (const struct mz_path *)f->x;
    char what = f->at[s.thread][0];
    uint64_t *value = &f->value[(unsigned char)f->at[s.thread][1]];
    uint64_t old = s.source == MZ_SOURCE_NEWEST ? *value : path->served[path->depth], new = old;
    if (what == 'w') new = 100u * (s.thread + 1u) + (unsigned)(f->at[s.thread] - f->code[s.thread]);
    if (what == '+') new = old + 1;
    if (what == 'w') old = *value;
    if (what != 'w' && f->reads[s.thread] < FAKE_READS) f->seen[s.thread][f->reads[s.thread]++] = old;
    mz_explore_commit(f->x, (enum mz_access)f->view.pending[s.thread].access, old, new);
    if (what != 'r') *value = new;
}

static void step(struct fake *f, struct mz_step s)
{
    int thread = s.thread;
    char what = f->at[thread][0];
    if (what == 'L') f->owner[(unsigned char)f->at[thread][1]] = thread + 1;
    if (what == 'L' || what == 'c')
        mz_explore_commit(f->x, (enum mz_access)f->view.pending[thread].access, 0, 0);
    else
        perform(f, s);
    f->at[thread] += f->at[thread][2] ? 3 : 2;
    publish(f, thread);
    update_enabled(f);
    if (f->stepped) f->stepped(f);
}

static void identity(void *system, struct mz_state *out)
{
    const struct fake *f = system;
    uint64_t places = 1;
    for (int t = 0; t < FAKE_THREADS; t++)
        if (f->code[t]) places = places * 100 + (uint64_t)(f->at[t] - f->code[t]);
    *out = (struct mz_state){{places, ~places}}; /* the places determine who holds each mutex */
}

void fake_init(struct fake *f, enum mz_algorithm algorithm, bool sleep_sets,
               const char *const code[FAKE_THREADS])
{
    *f = (struct fake){.options = {.algorithm = algorithm,
                                   .sleep_sets = sleep_sets,
                                   .max_steps = FAKE_STEPS,
                                   .state = identity,
                                   .system = f,
                                   .deterministic = true,
                                   .strict = true}};
    for (int t = 0; t < FAKE_THREADS; t++) f->code[t] = code[t];
}

static bool account(struct fake *f)
{
    switch (mz_explore_ending(f->x)) {
    case MZ_ENDING_MAXIMAL:
        f->executions++;
        if (f->visit) f->visit(f);
        return true;
    case MZ_ENDING_ASLEEP:
        f->asleep++;
        return true;
    case MZ_ENDING_VISITED:
        f->visited++;
        return true;
    case MZ_ENDING_PEEKED:
        return true;
    default:
        return false;
    }
}

/* ---- going back ---- */

struct fake_node {
    struct mz_view view;
    const char *at[FAKE_THREADS];
    int owner[128];
    uint64_t value[128];
    uint64_t seen[FAKE_THREADS][FAKE_READS];
    unsigned reads[FAKE_THREADS];
};

static void copy(struct fake_node *n, struct fake *f, bool back)
{
#define COPY(field)                                                                                          \
    memcpy(back ? (void *)&f->field : &n->field, back ? (void *)&n->field : &f->field, sizeof n->field)
    COPY(view);
    COPY(at);
    COPY(owner);
    COPY(value);
    COPY(seen);
    COPY(reads);
#undef COPY
}

static uint32_t depth_of(const struct fake *f) { return ((const struct mz_path *)f->x)->depth; }

static void begin_or_go_back(struct fake *f)
{
    const struct mz_path *path = (const struct mz_path *)f->x;
    uint32_t node = path->back > f->goes_further ? path->back - f->goes_further : 0;
    if (f->goes_back && !f->nodes) f->nodes = calloc(FAKE_STEPS + 1, sizeof *f->nodes);
    if (f->goes_back && !path->live) {
        copy(&f->nodes[node], f, true);
        mz_explore_resume(f->x, node);
    } else {
        begin(f);
    }
}

bool fake_execution(struct fake *f)
{
    struct mz_step s;
    if (!f->x) f->x = mz_explore_new(&f->view, &f->options);
    begin_or_go_back(f);
    for (;;) {
        if (f->goes_back) copy(&f->nodes[depth_of(f)], f, false);
        s = mz_explore_next(f->x);
        if (s.thread == MZ_NOBODY) break;
        step(f, s);
    }
    return account(f) && mz_explore_end(f->x);
}

uint64_t fake_explore(struct fake *f)
{
    while (fake_execution(f)) {
    }
    return f->executions;
}

void fake_release(struct fake *f)
{
    if (f->x) mz_explore_free(f->x);
    f->x = NULL;
    free(f->nodes);
    f->nodes = NULL;
}

bool fake_conflict(const struct mz_event *a, const struct mz_event *b)
{
    return a->key == b->key && (a->access == MZ_WRITES || b->access == MZ_WRITES);
}
