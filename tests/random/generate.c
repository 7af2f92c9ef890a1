/* Generates random models from small idioms rather than from single operations: most locks are unlocked, most
 * waits are inside their lock, most values that are read are also used. Each program draws a few themes and
 * few objects, so that its threads meet: with everything possible at once, hardly any operations would
 * conflict.
 *
 * A tour: mz_generate draws themes, objects and the style of spawning; fill_thread draws idioms until the
 * thread's budget is used up; the idioms (block_..., simple_...) emit operations. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "edit.h"
#include "generate.h"
#include "generator.h"

static const char *const theme_names[THEMES] = {
    [MEMORY] = "memory",   [COMPARE] = "compare",       [LOCKS] = "locks",
    [TRIES] = "tries",     [CONDITIONS] = "conditions", [SEMAPHORES] = "semaphores",
    [CHOICES] = "choices", [RWLOCKS] = "rwlocks",       [ONCES] = "onces",
    [FUTEXES] = "futexes", [TIMEOUTS] = "timeouts",     [SECTIONS] = "sections",
    [LOOPS] = "loops",     [AWAITS] = "awaits",         [CHANNELS] = "channels",
};

int mz_theme(const char *name)
{
    for (int i = 0; i < THEMES; i++)
        if (strcmp(theme_names[i], name) == 0) return i;
    return -1;
}

static struct mz_model_operand any_operand(struct generator *g)
{
    return percent(g, 25) ? reg(below(g, 2)) : constant(below(g, 3));
}

/* Emits a jump over the operations until land(). Returns the index of the jump. */
static int jump(struct generator *g, int r, enum mz_model_relation relation, int value)
{
    struct mz_model_op *op = emit(g, MZ_MODEL_IF, 0);
    op->a = reg(r);
    op->b = constant(value);
    op->relation = (uint8_t)relation;
    return g->t->length - 1;
}

static void land(struct generator *g, int index)
{
    if (mz_model_jumps(g->t->ops[index].code)) g->t->ops[index].target = g->t->length;
}

/* Simple idioms: one event, and perhaps a use of its result. */

static int simple_memory(struct generator *g)
{
    int r = below(g, 2), x = any(g, MZ_MODEL_VAR);
    struct mz_model_op *op;
    if (has(g, AWAITS) && percent(g, 35)) {
        emit(g, MZ_MODEL_BUMP, x)->a = constant(percent(g, 50) ? -1 : between(g, 1, 2));
        return -1;
    }
    switch (below(g, has(g, COMPARE) ? 8 : 5)) {
    case 0:
    case 1:
        emit(g, MZ_MODEL_READ, x)->result = (uint8_t)r;
        break;
    case 2:
    case 3:
        emit(g, MZ_MODEL_WRITE, x)->a = any_operand(g);
        return -1;
    case 4:
        op = emit(g, percent(g, 70) ? MZ_MODEL_ADD : MZ_MODEL_XCHG, x);
        op->a = constant(between(g, 1, 2));
        op->result = (uint8_t)r;
        break;
    default:
        op = emit(g, MZ_MODEL_CAS, x);
        op->a = any_operand(g);
        op->b = any_operand(g);
        op->result = (uint8_t)r;
    }
    return r;
}

static int simple_choose(struct generator *g)
{
    int r = below(g, 2);
    struct mz_model_op *op = emit(g, MZ_MODEL_CHOOSE, 0);
    op->a = constant(percent(g, 80) ? 2 : 3);
    op->result = (uint8_t)r;
    return r;
}

static void simple_assert(struct generator *g, int r)
{
    struct mz_model_op *op = emit(g, MZ_MODEL_ASSERT, 0);
    op->a = reg(r);
    op->b = constant(below(g, 3));
    op->relation = (uint8_t)(percent(g, 60) ? MZ_MODEL_NE : below(g, 4));
}

static void simple_let(struct generator *g)
{
    struct mz_model_op *op = emit(g, MZ_MODEL_LET, 0);
    op->result = (uint8_t)below(g, 2);
    op->a = any_operand(g);
    op->b = any_operand(g);
    op->relation = percent(g, 80) ? MZ_MODEL_PLUS : MZ_MODEL_MINUS;
}

/* An event that may make no sense: an unlock of a mutex that is not held, a second lock, a wait outside of a
 * lock. */
static void simple_raw(struct generator *g)
{
    if (some(g, MZ_MODEL_MUTEX) && percent(g, 50)) {
        int code = MZ_MODEL_LOCK + below(g, has(g, TRIES) ? 3 : 2) * (has(g, TRIES) ? 1 : 2);
        struct mz_model_op *op = emit(g, (enum mz_model_code)code, any(g, MZ_MODEL_MUTEX));
        if (code == MZ_MODEL_TRYLOCK) op->result = (uint8_t)below(g, 2);
    } else if (has(g, RWLOCKS)) {
        enum mz_model_code code = (enum mz_model_code)(MZ_MODEL_RDLOCK + below(g, 5));
        struct mz_model_op *op = emit(g, code, any(g, MZ_MODEL_RWLOCK));
        if (code == MZ_MODEL_TRYRDLOCK || code == MZ_MODEL_TRYWRLOCK) op->result = (uint8_t)below(g, 2);
    } else if (has(g, CONDITIONS)) {
        struct mz_model_op *op =
            emit(g, (enum mz_model_code)(MZ_MODEL_WAIT + below(g, 3)), any(g, MZ_MODEL_COND));
        op->mutex = (uint8_t)any(g, MZ_MODEL_MUTEX);
    } else if (some(g, MZ_MODEL_VAR)) {
        simple_memory(g);
    }
}

/* An event that fits into any block; its result is perhaps asserted, or decides about the next one. */
static void simple(struct generator *g)
{
    int r = has(g, CHOICES) && percent(g, 30) ? simple_choose(g) : simple_memory(g);
    g->budget--;
    if (r < 0) return;
    if (percent(g, 25)) {
        simple_assert(g, r);
    } else if (percent(g, 30)) {
        int over = jump(g, r, percent(g, 50) ? MZ_MODEL_EQ : MZ_MODEL_NE, below(g, 3));
        if (percent(g, 15)) simple_let(g);
        simple_memory(g);
        g->budget--;
        land(g, over);
    }
}

/* Blocks. */

static void inside(struct generator *g)
{
    for (int n = below(g, 3); n-- > 0;)
        if (some(g, MZ_MODEL_VAR)) simple(g);
}

static void block_lock(struct generator *g)
{
    int m = any(g, MZ_MODEL_MUTEX), n = any(g, MZ_MODEL_MUTEX);
    bool nested = m != n && percent(g, 55);
    emit(g, MZ_MODEL_LOCK, m);
    if (nested) emit(g, MZ_MODEL_LOCK, n);
    inside(g);
    bool crossed = percent(g, 50);
    if (nested && percent(g, 93)) emit(g, MZ_MODEL_UNLOCK, crossed ? m : n);
    if (percent(g, 93)) emit(g, MZ_MODEL_UNLOCK, nested && crossed ? n : m);
    g->budget -= 2;
}

static void block_try(struct generator *g)
{
    int m = any(g, MZ_MODEL_MUTEX), r = below(g, 2);
    emit(g, MZ_MODEL_TRYLOCK, m)->result = (uint8_t)r;
    int over = jump(g, r, MZ_MODEL_EQ, 0);
    inside(g);
    if (percent(g, 90)) emit(g, MZ_MODEL_UNLOCK, m);
    land(g, over);
    g->budget -= 2;
}

static void block_wait(struct generator *g)
{
    int m = any(g, MZ_MODEL_MUTEX), c = any(g, MZ_MODEL_COND), over = -1;
    emit(g, MZ_MODEL_LOCK, m);
    if (some(g, MZ_MODEL_VAR) && percent(g, 50)) {
        emit(g, MZ_MODEL_READ, any(g, MZ_MODEL_VAR))->result = 0;
        over = jump(g, 0, MZ_MODEL_NE, 0);
    }
    bool may_time_out = has(g, TIMEOUTS) && percent(g, 65);
    struct mz_model_op *op = emit(g, may_time_out ? MZ_MODEL_TIMEDWAIT : MZ_MODEL_WAIT, c);
    op->mutex = (uint8_t)m;
    if (may_time_out) op->result = 1;
    if (may_time_out && percent(g, 15)) simple_assert(g, 1);
    if (over >= 0) land(g, over);
    if (some(g, MZ_MODEL_VAR) && percent(g, 25)) simple(g);
    if (percent(g, 90)) emit(g, MZ_MODEL_UNLOCK, m);
    g->budget -= 3;
}

static void block_notify(struct generator *g)
{
    int m = any(g, MZ_MODEL_MUTEX);
    bool locked = percent(g, 50);
    if (locked) emit(g, MZ_MODEL_LOCK, m);
    if (some(g, MZ_MODEL_VAR) && percent(g, 40))
        emit(g, MZ_MODEL_WRITE, any(g, MZ_MODEL_VAR))->a = constant(1);
    emit(g, percent(g, 70) ? MZ_MODEL_SIGNAL : MZ_MODEL_BROADCAST, any(g, MZ_MODEL_COND));
    if (locked) emit(g, MZ_MODEL_UNLOCK, m);
    g->budget -= locked ? 2 : 1;
}

static void block_semaphore(struct generator *g)
{
    int s = any(g, MZ_MODEL_SEM);
    if (percent(g, 50)) {
        if (percent(g, 15))
            emit(g, MZ_MODEL_SEM_VALUE, s)->result = (uint8_t)below(g, 2);
        else
            emit(g, percent(g, 50) ? MZ_MODEL_SEM_WAIT : MZ_MODEL_SEM_POST, s);
        g->budget--;
        return;
    }
    int over = -1;
    if (percent(g, 40)) {
        int r = below(g, 2);
        emit(g, MZ_MODEL_SEM_TRY, s)->result = (uint8_t)r;
        over = jump(g, r, MZ_MODEL_EQ, 0);
    } else {
        emit(g, MZ_MODEL_SEM_WAIT, s);
    }
    inside(g);
    if (percent(g, 85)) emit(g, MZ_MODEL_SEM_POST, s);
    if (over >= 0) land(g, over);
    g->budget -= 2;
}

static void block_rwlock(struct generator *g)
{
    int l = any(g, MZ_MODEL_RWLOCK), n = any(g, MZ_MODEL_RWLOCK), over = -1;
    bool nested = n != l && percent(g, 40);
    if (percent(g, 35)) {
        int r = below(g, 2);
        emit(g, percent(g, 50) ? MZ_MODEL_TRYRDLOCK : MZ_MODEL_TRYWRLOCK, l)->result = (uint8_t)r;
        over = jump(g, r, MZ_MODEL_EQ, 0);
    } else {
        emit(g, percent(g, 65) ? MZ_MODEL_RDLOCK : MZ_MODEL_WRLOCK, l);
    }
    if (percent(g, 7)) emit(g, MZ_MODEL_RDLOCK, l); /* twice by one thread */
    if (nested) emit(g, percent(g, 60) ? MZ_MODEL_RDLOCK : MZ_MODEL_WRLOCK, n);
    inside(g);
    if (nested && percent(g, 93)) emit(g, MZ_MODEL_RWUNLOCK, n);
    if (percent(g, 93)) emit(g, MZ_MODEL_RWUNLOCK, l);
    if (over >= 0) land(g, over);
    g->budget -= 2;
}

static void one_idiom(struct generator *g);

static void block_once(struct generator *g)
{
    int o = any(g, MZ_MODEL_ONCES);
    emit(g, MZ_MODEL_ONCE, o);
    int over = g->t->length - 1;
    inside(g);
    if (g->budget > 2 && g->t->length < MZ_MODEL_OPS / 2 && percent(g, 25)) one_idiom(g);
    if (percent(g, 90)) emit(g, MZ_MODEL_ONCE_END, o);
    land(g, over);
    g->budget -= 2;
}

static void block_futex_wait(struct generator *g)
{
    bool may_time_out = percent(g, has(g, TIMEOUTS) ? 65 : 25);
    int r = below(g, 2);
    struct mz_model_op *op =
        emit(g, may_time_out ? MZ_MODEL_FUTEX_TIMEDWAIT : MZ_MODEL_FUTEX_WAIT, any(g, MZ_MODEL_VAR));
    op->a = percent(g, 80) ? constant(0) : any_operand(g);
    op->result = (uint8_t)r;
    if (percent(g, 20)) simple_assert(g, r);
    if (percent(g, 20)) simple(g);
    g->budget -= 2;
}

static void block_futex_wake(struct generator *g)
{
    int x = any(g, MZ_MODEL_VAR);
    if (percent(g, 50)) emit(g, MZ_MODEL_WRITE, x)->a = constant(1);
    emit(g, percent(g, 70) ? MZ_MODEL_FUTEX_WAKE : MZ_MODEL_FUTEX_WAKE_ALL, x);
    g->budget -= 2;
}

static void block_section(struct generator *g)
{
    emit(g, MZ_MODEL_SECTION, 0);
    for (int n = between(g, 1, 3); n-- > 0;) {
        int r = simple_memory(g), over = -1;
        if (r < 0) continue;
        if (percent(g, 10)) simple_assert(g, r);
        if (percent(g, 30)) over = jump(g, r, percent(g, 50) ? MZ_MODEL_EQ : MZ_MODEL_NE, below(g, 3));
        if (percent(g, 15)) simple_let(g);
        if (over >= 0) simple_memory(g);
        if (over >= 0) land(g, over);
    }
    if (percent(g, 95)) emit(g, MZ_MODEL_SECTION_END, 0);
    g->budget--;
}

/* An endless loop, or a loop until a value is seen. Its first operation is an event; then come one or two
 * idioms. */
static void block_loop(struct generator *g)
{
    int head = g->t->length, r = below(g, 2);
    bool over_choice = has(g, CHOICES) && percent(g, 40);
    if (over_choice || !some(g, MZ_MODEL_VAR)) {
        struct mz_model_op *op = emit(g, MZ_MODEL_CHOOSE, 0);
        op->a = constant(between(g, 1, 2));
        op->result = (uint8_t)r;
    } else if (percent(g, 60)) {
        emit(g, MZ_MODEL_READ, any(g, MZ_MODEL_VAR))->result = (uint8_t)r;
    } else {
        struct mz_model_op *op = emit(g, percent(g, 70) ? MZ_MODEL_XCHG : MZ_MODEL_CAS, any(g, MZ_MODEL_VAR));
        op->a = constant(below(g, 2));
        op->b = constant(below(g, 2));
        op->result = (uint8_t)r;
    }
    for (int n = below(g, 3); n-- > 0 && g->budget > 0 && g->t->length < MZ_MODEL_OPS / 2;) one_idiom(g);
    int back = jump(g, r, percent(g, 50) ? MZ_MODEL_EQ : MZ_MODEL_NE, below(g, 2));
    if (!mz_model_jumps(g->t->ops[back].code)) return;
    g->t->ops[back].target = (uint8_t)head;
    if (percent(g, 15)) g->t->ops[back].a = g->t->ops[back].b; /* for ever, or never */
    g->budget--;
}

static void block_await(struct generator *g)
{
    struct mz_model_op *op = emit(g, MZ_MODEL_AWAIT, any(g, MZ_MODEL_VAR));
    op->relation = (uint8_t)below(g, 4);
    op->a = percent(g, 85) ? constant(between(g, -1, 2)) : reg(below(g, 2));
    if (percent(g, 55)) {
        op->joint = percent(g, 60) ? MZ_MODEL_AND : MZ_MODEL_OR;
        op->mutex = (uint8_t)any(g, MZ_MODEL_VAR);
        op->relation2 = (uint8_t)below(g, 4);
        op->b = constant(between(g, -1, 2));
    }
    if (percent(g, 30)) simple(g);
    g->budget--;
}

/* A channel belongs to one thread, which alone receives from it. */
static void block_channel(struct generator *g)
{
    int h = any(g, MZ_MODEL_CHAN), r = below(g, 2), tags = percent(g, 70) ? 1 : MZ_MODEL_TAGS;
    bool mine = g->t - g->m->threads == h % g->m->thread_count;
    struct mz_model_op *op;
    g->budget--;
    if (!mine || percent(g, 20)) {
        if (g->sends == MZ_MODEL_MESSAGES) return;
        g->sends++;
        op = emit(g, MZ_MODEL_SEND, h);
        op->mutex = (uint8_t)below(g, tags);
        op->a = any_operand(g);
        return;
    }
    bool tries = percent(g, 50);
    op = emit(g, tries ? MZ_MODEL_TRY_RECEIVE : MZ_MODEL_RECEIVE, h);
    op->mutex = (uint8_t)below(g, tags);
    op->result = (uint8_t)r;
    if (percent(g, 25)) simple_assert(g, r);
    if (!tries || !percent(g, 25) || g->t->length > MZ_MODEL_OPS / 2) return;
    int over = jump(g, r, MZ_MODEL_EQ, -1);
    one_idiom(g);
    land(g, over);
}

static void one_idiom(struct generator *g)
{
    enum theme theme = (enum theme)below(g, THEMES);
    while (!has(g, theme)) theme = (enum theme)below(g, THEMES);
    if (percent(g, 6)) {
        simple_raw(g);
        g->budget--;
        return;
    }
    switch (theme) {
    case LOCKS:
        block_lock(g);
        break;
    case TRIES:
        if (percent(g, 60))
            block_try(g);
        else
            block_lock(g);
        break;
    case CONDITIONS:
        if (percent(g, 55))
            block_wait(g);
        else
            block_notify(g);
        break;
    case SEMAPHORES:
        block_semaphore(g);
        break;
    case RWLOCKS:
        block_rwlock(g);
        break;
    case ONCES:
        block_once(g);
        break;
    case FUTEXES:
        if (percent(g, 50))
            block_futex_wait(g);
        else
            block_futex_wake(g);
        break;
    case TIMEOUTS:
        block_wait(g);
        break;
    case SECTIONS:
        block_section(g);
        break;
    case LOOPS:
        block_loop(g);
        break;
    case AWAITS:
        block_await(g);
        break;
    case CHANNELS:
        block_channel(g);
        break;
    default:
        simple(g);
    }
}

static void fill_thread(struct generator *g, int budget)
{
    g->budget = budget;
    if (has(g, CONDITIONS) && percent(g, 40)) { /* early in the thread, or few threads would ever wait
                                                 * together */
        if (percent(g, 65))
            block_wait(g);
        else
            block_notify(g);
    }
    if (has(g, FUTEXES) && percent(g, 40)) block_futex_wait(g);
    if (has(g, SECTIONS) && percent(g, 25)) block_section(g);
    if (has(g, LOOPS) && percent(g, 40)) block_loop(g);
    while (g->budget > 0 && g->t->length < MZ_MODEL_OPS / 2) one_idiom(g);
}

/* Drawing a program. */

static void draw_themes(struct generator *g, int most, unsigned always)
{
    static const int weights[THEMES] = {4, 3, 4, 4, 5, 4, 2, 9, 3, 6, 4, 6, 4, 9, 7};
    int total = 0;
    for (int i = 0; i < THEMES; i++) total += weights[i];
    g->themes = always;
    for (int n = between(g, 1, most); n-- > 0;) {
        int draw = below(g, total), theme = 0;
        while (draw >= weights[theme]) draw -= weights[theme++];
        g->themes |= 1u << theme;
    }
    if (has(g, TIMEOUTS)) g->themes |= 1u << CONDITIONS;
    if (has(g, AWAITS)) g->themes &= ~(1u << SECTIONS); /* M5 */
    if (has(g, CHANNELS)) g->themes &= ~(1u << LOOPS);  /* M4 */
    if (has(g, COMPARE) || has(g, CHOICES) || has(g, FUTEXES) || has(g, SECTIONS) || has(g, AWAITS))
        g->themes |= 1u << MEMORY;
    if (has(g, CONDITIONS) && percent(g, 25))
        g->themes |= 1u << TRIES; /* the release of a wait is an event */
}

static void draw_objects(struct generator *g)
{
    bool memory = has(g, MEMORY) || percent(g, 70);
    if (has(g, CHANNELS)) declare(g, MZ_MODEL_CHAN, percent(g, 75) ? 1 : 2, "hi");
    bool mutexes = has(g, LOCKS) || has(g, TRIES) || has(g, CONDITIONS);
    if (memory || !(mutexes || has(g, SEMAPHORES) || has(g, RWLOCKS) || has(g, ONCES) || has(g, CHANNELS)))
        declare(g, MZ_MODEL_VAR, between(g, 1, percent(g, 20) ? 3 : 2), "xyz");
    if (mutexes)
        declare(g, MZ_MODEL_MUTEX, has(g, CONDITIONS) && percent(g, 60) ? 1 : between(g, 1, 2), "mn");
    if (has(g, CONDITIONS)) declare(g, MZ_MODEL_COND, percent(g, 85) ? 1 : 2, "cd");
    if (has(g, SEMAPHORES)) declare(g, MZ_MODEL_SEM, percent(g, 75) ? 1 : 2, "st");
    if (has(g, RWLOCKS)) declare(g, MZ_MODEL_RWLOCK, percent(g, 75) ? 1 : 2, "lk");
    if (has(g, ONCES)) declare(g, MZ_MODEL_ONCES, percent(g, 75) ? 1 : 2, "op");
    for (int i = 0; i < g->m->object_count[MZ_MODEL_RWLOCK]; i++)
        g->m->initial[MZ_MODEL_RWLOCK][i] = percent(g, 30);
    for (int i = 0; i < g->m->object_count[MZ_MODEL_SEM]; i++)
        g->m->initial[MZ_MODEL_SEM][i] = (mz_model_value)(percent(g, 50) ? 0 : between(g, 1, 2));
    for (int i = 0; i < g->m->object_count[MZ_MODEL_VAR]; i++)
        g->m->initial[MZ_MODEL_VAR][i] = (mz_model_value)(percent(g, 80) ? 0 : 1);
}

void mz_generate(uint64_t seed, const struct mz_knobs *knobs, struct mz_model *m)
{
    struct generator g = {.random = seed * 0xd1342543de82ef95u + 1, .m = m};
    memset(m, 0, sizeof *m);
    int threads = between(&g, 2, knobs->max_threads) + percent(&g, 8);
    m->thread_count = (uint8_t)(threads > MZ_MODEL_THREADS ? MZ_MODEL_THREADS : threads);
    draw_themes(&g, knobs->themes, knobs->always);
    draw_objects(&g);
    for (int t = 0; t < m->thread_count; t++) {
        g.t = &m->threads[t];
        snprintf(g.t->name, MZ_MODEL_NAME, "t%d", t);
        fill_thread(&g, between(&g, 1, knobs->max_operations));
    }
    switch (below(&g, 5)) {
    case 0:
    case 1:
        break; /* all from the start */
    case 2:
        mz_spawn_from_first(&g);
        break;
    default:
        mz_spawn_anyhow(&g);
    }
    if (knobs->tail) mz_add_tail(&g);
    mz_edit_repair(m);
    mz_edit_remove_unused(m);
}

void mz_generate_smaller(uint64_t seed, struct mz_model *m)
{
    struct generator g = {.random = seed ^ (uint64_t)mz_edit_size(m) << 32, .m = m};
    for (int n = 1 + mz_edit_size(m) / 4; n > 0 && mz_edit_size(m) > 0; n--) {
        int t = below(&g, m->thread_count);
        while (m->threads[t].length == 0) t = (t + 1) % m->thread_count;
        mz_edit_remove_op(m, t, below(&g, m->threads[t].length));
    }
    mz_edit_repair(m);
    mz_edit_remove_unused(m);
}
