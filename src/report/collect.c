/* From the channel to a report: see collect.h. */
#include "collect.h"
#include "files.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "blocks.h"
#include "memory.h"

#define NO_THREAD 255

/* ---- what is wrong, in words ---- */

void mz_describe_signal(struct mz_strbuf *out, int signal, uint64_t address)
{
    static const struct {
        int signal;
        const char *name, *text;
    } table[] = {{SIGSEGV, "SIGSEGV", "invalid memory access"},
                 {SIGBUS, "SIGBUS", "bus error"},
                 {SIGFPE, "SIGFPE", "arithmetic error such as a division by zero"},
                 {SIGILL, "SIGILL", "illegal instruction"},
                 {SIGABRT, "SIGABRT", "abort() was called"},
                 {SIGTRAP, "SIGTRAP", "trap"},
                 {SIGKILL, "SIGKILL", "killed from outside, perhaps for lack of memory"}};
    size_t i = 0, count = sizeof table / sizeof *table;
    while (i < count && table[i].signal != signal) i++;
    bool at_null = signal == SIGSEGV && address < 4096, has_address = signal == SIGSEGV || signal == SIGBUS;
    mz_strbuf_add(out, at_null ? "null pointer access" : i < count ? table[i].text : "ended by a signal");
    if (has_address && address != UINT64_MAX) mz_strbuf_addf(out, " at address 0x%" PRIx64, address);
    if (i < count)
        mz_strbuf_addf(out, " (%s)", table[i].name);
    else
        mz_strbuf_addf(out, " (signal %d)", signal);
}

static bool is_blocked(unsigned state)
{
    return state == MZ_THREAD_LOCKING || state == MZ_THREAD_WAITING || state == MZ_THREAD_JOINING ||
           state == MZ_THREAD_SEMWAIT || state == MZ_THREAD_BARRIER || state == MZ_THREAD_FUTEX ||
           state == MZ_THREAD_SIGWAIT;
}

/* The thread that waits for a lock, on a circle of such threads if there is one; -1: no thread does. */
static int find_circle(const struct mz_finding *f, uint64_t *circle)
{
    int any = -1;
    for (int start = 0; start < MZ_MAX_THREADS; start++) {
        uint64_t seen = 0;
        int at = start;
        while (at >= 0 && at < MZ_MAX_THREADS && f->threads[at].state == MZ_THREAD_LOCKING &&
               !(seen >> at & 1)) {
            seen |= 1ull << at;
            at = f->threads[at].holder;
        }
        if (seen && any < 0) any = start;
        if (seen && at == start) {
            *circle = seen;
            return start;
        }
    }
    *circle = 0;
    return any;
}

static void describe_deadlock(struct mz_strbuf *out, const struct mz_channel *c, const struct mz_finding *f)
{
    unsigned blocked = 0;
    uint64_t circle;
    int start = find_circle(f, &circle);
    for (int i = 0; i < MZ_MAX_THREADS; i++) blocked += is_blocked(f->threads[i].state);
    if (circle && f->threads[start].holder == start) {
        const char *what = f->threads[start].op == MZ_OP_ONCE   ? "the end of a pthread_once that it runs"
                           : f->threads[start].op == MZ_OP_LOCK ? "a mutex that it holds"
                                                                : "a read-write lock that it holds";
        mz_strbuf_addf(out, "deadlock: thread %s waits for %s itself", c->threads[start].name, what);
    } else if (circle) {
        mz_strbuf_add(out, "deadlock: threads");
        for (int i = 0, n = 0; i < MZ_MAX_THREADS; i++)
            if (circle >> i & 1) mz_strbuf_addf(out, "%s %s", n++ ? " and" : "", c->threads[i].name);
        mz_strbuf_add(out, " wait for each other");
    } else if (blocked == 1) {
        mz_strbuf_add(out, "deadlock: the last thread waits for ever");
    } else {
        mz_strbuf_addf(out, "deadlock: %u threads wait and none can go on", blocked);
    }
}

/* The thread of a deadlock that tells most: one that waits for a mutex, then one that waits for a signal, and
 * only then one that joins another. */
static uint8_t deadlocked_thread(const struct mz_finding *f)
{
    uint64_t circle;
    int start = find_circle(f, &circle);
    if (start >= 0) return (uint8_t)start;
    for (int i = 0; i < MZ_MAX_THREADS; i++)
        if (is_blocked(f->threads[i].state) && f->threads[i].state != MZ_THREAD_JOINING) return (uint8_t)i;
    return f->thread;
}

static char *describe(struct mz_symbols *s, const struct mz_channel *c, const struct mz_finding *f,
                      const char *object)
{
    struct mz_strbuf b = {0};
    switch (f->kind) {
    case MZ_KIND_USE_AFTER_FREE:
    case MZ_KIND_DOUBLE_FREE:
    case MZ_KIND_INVALID_FREE:
    case MZ_KIND_OUT_OF_BOUNDS:
    case MZ_KIND_LEAK:
        return mz_describe_memory(s, f);
    case MZ_KIND_ASSERTION:
        mz_strbuf_addf(&b, "assertion failed: %s", f->text);
        break;
    case MZ_KIND_DEADLOCK:
        describe_deadlock(&b, c, f);
        break;
    case MZ_KIND_DATA_RACE:
        mz_strbuf_addf(&b, "data race on %s", object ? object : "?");
        if (f->area != MZ_AREA_HEAP) break;
        mz_strbuf_add(&b, ", ");
        mz_describe_position(s, f, &b);
        break;
    case MZ_KIND_EXIT_CODE:
        mz_strbuf_addf(&b, "the program ended with exit status %d", f->code);
        break;
    case MZ_KIND_CRASH:
        mz_strbuf_add(&b, "crash: ");
        if (f->text[0])
            mz_strbuf_add(&b, f->text);
        else
            mz_describe_signal(&b, f->code, f->address);
        break;
    default: {
        char *kind = mz_memory_string(mz_kind_name((enum mz_kind)f->kind));
        for (char *p = kind; *p; p++)
            if (*p == '-') *p = ' ';
        mz_strbuf_add(&b, kind);
        if (f->text[0]) mz_strbuf_addf(&b, ": %s", f->text);
        free(kind);
    }
    }
    return mz_strbuf_take(&b);
}

/* ---- operations ---- */

enum object_kind { NOTHING, MEMORY, SYNC };

static enum object_kind object_kind(unsigned op)
{
    switch (op) {
    case MZ_OP_LOAD:
    case MZ_OP_STORE:
    case MZ_OP_RMW:
    case MZ_OP_CAS:
    case MZ_OP_READ:
    case MZ_OP_WRITE:
    case MZ_OP_MALLOC:
    case MZ_OP_FREE:
    case MZ_OP_ALLOCATE:
    case MZ_OP_DEALLOCATE:
        return MEMORY;
    case MZ_OP_LOCK:
    case MZ_OP_TRYLOCK:
    case MZ_OP_UNLOCK:
    case MZ_OP_RELEASE:
    case MZ_OP_ACQUIRE:
    case MZ_OP_WAIT:
    case MZ_OP_WOKEN:
    case MZ_OP_SIGNAL:
    case MZ_OP_BROADCAST:
    case MZ_OP_WAKE:
    case MZ_OP_SEM_WAIT:
    case MZ_OP_SEM_POST:
    case MZ_OP_SEM_TRY:
    case MZ_OP_TIMEOUT:
    case MZ_OP_SPURIOUS:
    case MZ_OP_RDLOCK:
    case MZ_OP_WRLOCK:
    case MZ_OP_TRYRDLOCK:
    case MZ_OP_TRYWRLOCK:
    case MZ_OP_RWUNLOCK:
    case MZ_OP_RWCLAIM:
    case MZ_OP_ONCE:
    case MZ_OP_ARRIVE:
        return SYNC;
    default:
        return NOTHING;
    }
}

static bool names_a_thread(unsigned op)
{
    return op == MZ_OP_SPAWN || op == MZ_OP_JOIN || op == MZ_OP_WOKEN || op == MZ_OP_CANCEL ||
           op == MZ_OP_TRYJOIN || op == MZ_OP_SIGSEND || op == MZ_OP_SIGARRIVE;
}

/* Scheduling decisions: operations that the engine chose to happen. */
static bool is_visible(unsigned op)
{
    enum { VISIBLE = 1, LOCAL = 0, PLAIN = 0 };
    static const bool visible[] = {
#define OP(name, text, when) when,
#include "../event/op.def"
#undef OP
    };
    return op < MZ_OP_COUNT && visible[op];
}

static bool is_shown(unsigned op)
{
    return op != MZ_OP_NONE && op != MZ_OP_START && op != MZ_OP_FINISH && op != MZ_OP_FINISHED &&
           op != MZ_OP_SIGPOINT && op < MZ_OP_COUNT;
}

static char *object_name(struct mz_symbols *s, unsigned op, uint64_t address, uint32_t size)
{
    struct mz_object object;
    enum object_kind kind = object_kind(op);
    if (kind == NOTHING || !address) return NULL;
    mz_symbols_object(s, address, kind == SYNC ? 0 : size ? size : 1, &object);
    return object.name;
}

static void set_place(struct mz_symbols *s, const struct mz_place *place, char **file, unsigned *line)
{
    struct mz_stack stack = {0};
    mz_symbols_stack(s, place, &stack);
    const struct mz_frame *frame = mz_stack_source(&stack);
    if (frame && frame->file) {
        *file = mz_memory_string(frame->file);
        *line = frame->line;
    }
    mz_stack_release(&stack);
}

static void collect_values(struct mz_symbols *s, const struct mz_record *r, struct mz_operation *o)
{
    struct mz_object object = {0};
    if (!(r->flags & MZ_RECORD_HAS_VALUE)) return;
    if (object_kind(r->op) == MEMORY) mz_symbols_object(s, r->object, r->size ? r->size : 1, &object);
    o->value = mz_symbols_value(s, &object, r->value, r->size ? r->size : 8);
    bool stored = r->op == MZ_OP_RMW || (r->op == MZ_OP_CAS && !o->failed);
    if (stored) o->new_value = mz_symbols_value(s, &object, r->value2, r->size ? r->size : 8);
    free(object.name);
}

/* A signal and the thread that it woke are one row. */
static bool joins_signal(const struct mz_record *r, const struct mz_bug *bug)
{
    if (r->op != MZ_OP_WOKEN || bug->operation_count == 0) return false;
    struct mz_operation *last = &bug->operations[bug->operation_count - 1];
    if (last->op != MZ_OP_SIGNAL && last->op != MZ_OP_WAKE) return false;
    if (last->thread != r->thread || last->other >= 0) return false;
    last->other = r->other;
    return true;
}

static void collect_operation(struct mz_symbols *s, const struct mz_record *r, uint32_t step,
                              struct mz_bug *bug)
{
    if (joins_signal(r, bug)) return;
    struct mz_operation *o = mz_bug_add_operation(bug);
    o->step = step;
    o->thread = r->thread;
    o->op = r->op;
    o->failed = r->flags & MZ_RECORD_FAILED;
    if (names_a_thread(r->op) && r->other != NO_THREAD) o->other = r->other;
    o->object = object_name(s, r->op, r->object, r->size);
    collect_values(s, r, o);
    set_place(s, &r->place, &o->file, &o->line);
}

static bool touches(const struct mz_record *r, const struct mz_finding *f)
{
    return r->object < f->address + f->size && f->address < r->object + r->size;
}

static bool is_here(const struct mz_record *r, const struct mz_finding *f)
{
    return r->thread == f->thread && r->op == f->op && touches(r, f);
}

static bool is_other(const struct mz_record *r, const struct mz_finding *f)
{
    return r->thread == f->other_thread && r->op == f->other_op && touches(r, f);
}

/* The two accesses of a data race, [0] the later one; UINT32_MAX if not recorded. The search stops at a race,
 * so the last access is the one; with --keep-going it is the first at its place that has another before it.
 */
static void find_racing(const struct mz_channel *c, const struct mz_finding *f, uint32_t racing[2])
{
    const struct mz_record *records = (const void *)((const char *)c + c->records_offset);
    racing[0] = racing[1] = UINT32_MAX;
    for (uint32_t i = 0; f->kind == MZ_KIND_DATA_RACE && i < c->record_count; i++) {
        if (is_other(&records[i], f)) racing[1] = i;
        if (!is_here(&records[i], f)) continue;
        racing[0] = i;
        bool exact = racing[1] != UINT32_MAX && records[i].place.pc[0] == f->place.pc[0];
        if (c->options.keep_going && exact) return;
    }
}

/* With --keep-going the execution went on after the finding; what came then does not matter. */
static uint32_t last_of(const struct mz_channel *c, const struct mz_finding *f, uint32_t racing)
{
    const struct mz_record *records = (const void *)((const char *)c + c->records_offset);
    if (f->kind == MZ_KIND_DATA_RACE) return racing;
    for (uint32_t i = 0; i < c->record_count; i++)
        if (records[i].op == MZ_OP_FAIL && records[i].thread == f->thread) return i;
    return UINT32_MAX;
}

static void collect_operations(struct mz_symbols *s, const struct mz_channel *c, const struct mz_finding *f,
                               struct mz_bug *bug)
{
    const struct mz_record *records = (const void *)((const char *)c + c->records_offset);
    uint32_t racing[2], step = 0;
    find_racing(c, f, racing);
    uint32_t last = last_of(c, f, racing[0]);
    for (uint32_t i = 0; i < c->record_count && i <= last; i++) {
        step += is_visible(records[i].op);
        if (!is_shown(records[i].op)) continue;
        mz_symbols_at_moment(s, i + 1, records[i].frame_pc, records[i].frame_cfa);
        collect_operation(s, &records[i], step, bug);
        if (i == racing[0] || i == racing[1]) bug->operations[bug->operation_count - 1].racing = true;
    }
    mz_symbols_at_moment(s, UINT32_MAX, 0, 0);
    bug->operations_lost = c->record_lost;
}

/* The schedule ends with the failure itself, also where the runtime could not record it any more. */
static void end_with_failure(struct mz_bug *bug)
{
    if (bug->kind == MZ_KIND_DEADLOCK || bug->kind == MZ_KIND_DATA_RACE || bug->kind == MZ_KIND_EXIT_CODE ||
        bug->kind == MZ_KIND_LEAK)
        return;
    if (bug->operation_count == 0) return;
    const struct mz_operation *last = &bug->operations[bug->operation_count - 1];
    if (last->op == MZ_OP_FAIL) return;
    uint32_t step = last->step;
    struct mz_operation *o = mz_bug_add_operation(bug);
    o->op = MZ_OP_FAIL;
    o->thread = bug->thread;
    o->step = step;
    o->file = mz_memory_string(bug->file);
    o->line = bug->line;
}

static uint8_t waiting_op(const struct mz_thread_report *t)
{
    if (t->state == MZ_THREAD_JOINING) return MZ_OP_JOIN;
    if (t->state == MZ_THREAD_SEMWAIT) return MZ_OP_SEM_WAIT;
    return t->op ? t->op : (uint8_t)MZ_OP_LOCK;
}

/* What the threads of a deadlock were trying in vain: rows that say so, though nothing happened. */
static void end_with_waiting(struct mz_bug *bug)
{
    uint32_t step = bug->operation_count ? bug->operations[bug->operation_count - 1].step : 0;
    for (size_t i = 0; i < bug->thread_count; i++) {
        const struct mz_thread_report *t = &bug->threads[i];
        const struct mz_frame *frame = mz_stack_source(&t->stack);
        /* Where waiting is an operation of its own, it is there already. */
        bool shown = t->state == MZ_THREAD_WAITING || t->state == MZ_THREAD_BARRIER ||
                     t->state == MZ_THREAD_FUTEX || t->state == MZ_THREAD_SIGWAIT;
        if (!is_blocked(t->state) || shown) continue;
        struct mz_operation *o = mz_bug_add_operation(bug);
        o->op = waiting_op(t);
        o->thread = t->slot;
        o->step = step;
        o->failed = true;
        o->object = mz_memory_string(t->object);
        if (t->state == MZ_THREAD_JOINING) o->other = t->holder;
        if (o->op == MZ_OP_ONCE) o->value = mz_memory_string("waits");
        o->file = mz_memory_string(frame ? frame->file : NULL);
        o->line = frame ? frame->line : 0;
    }
}

/* ---- threads ---- */

/* What a thread runs, in words of the user: the start routine, or, if that is the C++ library's, the
 * outermost function of the user's in any place where the thread was seen. */
static char *thread_function(struct mz_symbols *s, const struct mz_channel *c, int slot)
{
    const struct mz_record *records = (const struct mz_record *)((const char *)c + c->records_offset);
    if (slot == 0) return mz_memory_string("main");
    char *start = mz_symbols_function(s, c->threads[slot].start), *found = NULL;
    for (uint32_t i = 0; !start && !found && i < c->record_count; i++) {
        struct mz_stack stack = {0};
        if (records[i].thread != slot) continue;
        mz_symbols_stack(s, &records[i].place, &stack);
        const struct mz_frame *frame = mz_stack_user(&stack);
        if (frame) found = mz_memory_string(frame->function);
        mz_stack_release(&stack);
    }
    return start ? start : found;
}

static void collect_thread(struct mz_symbols *s, const struct mz_channel *c, const struct mz_finding *f,
                           int slot, struct mz_thread_report *t)
{
    const struct mz_thread_info *info = &c->threads[slot];
    const struct mz_thread_final *final = &f->threads[slot];
    t->slot = (uint8_t)slot;
    t->state = final->state;
    t->op = final->op;
    t->holder = final->holder;
    t->name = mz_memory_string(info->name[0] ? info->name : slot == 0 ? "0" : "?");
    t->function = thread_function(s, c, slot);
    bool waits = is_blocked(final->state) && final->state != MZ_THREAD_JOINING;
    unsigned op = waits ? MZ_OP_LOCK : final->state == MZ_THREAD_SPINNING ? MZ_OP_LOAD : final->op;
    t->object = object_name(s, op, final->object, 0);
    mz_symbols_stack(s, slot == f->thread && !final->place.pc[0] ? &f->place : &final->place, &t->stack);
}

static void collect_threads(struct mz_symbols *s, const struct mz_channel *c, const struct mz_finding *f,
                            struct mz_bug *bug)
{
    bug->threads = mz_memory_new(MZ_MAX_THREADS * sizeof *bug->threads);
    for (int i = 0; i < MZ_MAX_THREADS; i++)
        if (i == 0 || c->threads[i].used || f->threads[i].state != MZ_THREAD_ABSENT)
            collect_thread(s, c, f, i, &bug->threads[bug->thread_count++]);
}

/* ---- a bug ---- */

static void collect_accesses(struct mz_symbols *s, const struct mz_finding *f, struct mz_bug *bug)
{
    bug->access[0] = (struct mz_access_report){.thread = f->thread, .op = f->op, .size = f->size};
    mz_symbols_stack(s, &f->place, &bug->access[0].stack);
    if (f->kind == MZ_KIND_NONDETERMINISM) {
        bug->access[1] = (struct mz_access_report){.thread = f->thread, .op = f->other_op};
        mz_symbols_stack(s, &f->other_place, &bug->access[1].stack);
        bug->access[0].object = object_name(s, f->op, f->address, 0);
        bug->access[1].object = object_name(s, f->other_op, f->other_address, 0);
    }
    if (f->kind != MZ_KIND_DATA_RACE) return;
    bug->access[1] =
        (struct mz_access_report){.thread = f->other_thread, .op = f->other_op, .size = f->other_size};
    mz_symbols_stack(s, &f->other_place, &bug->access[1].stack);
    mz_symbols_at_moment(s, UINT32_MAX, f->frame_pc, f->frame_cfa);
    bug->object = object_name(s, MZ_OP_READ, f->address, f->size);
    mz_symbols_at_moment(s, UINT32_MAX, 0, 0);
    bug->address = f->address;
    bug->size = f->size;
}

/* __FILE__ is relative to where the compiler ran: where the call stack knows the file, its path is taken. */
static char *path_of_file(const struct mz_stack *stack, const char *file)
{
    const struct mz_frame *frame = mz_stack_source(stack);
    const char *path = frame ? frame->file : NULL;
    size_t n = strlen(file), m = path ? strlen(path) : 0;
    bool same = m >= n && !strcmp(path + m - n, file) && (m == n || path[m - n - 1] == '/');
    return mz_memory_string(same ? path : file);
}

static void collect_bug_place(struct mz_symbols *s, const struct mz_finding *f, struct mz_bug *bug)
{
    const struct mz_place *place = &f->place;
    if (f->file[0]) {
        bug->file = path_of_file(&bug->access[0].stack, f->file);
        bug->line = f->line;
        return;
    }
    if (f->kind == MZ_KIND_DEADLOCK || f->kind == MZ_KIND_LIVELOCK || !place->pc[0])
        place = &f->threads[bug->thread].place;
    if (!place->pc[0]) place = &f->place;
    set_place(s, place, &bug->file, &bug->line);
}

void mz_collect_bug(const struct mz_outcome *outcome, const struct mz_finding *f,
                    const struct mz_step *schedule, size_t length, struct mz_bug *bug)
{
    const struct mz_channel *c = outcome->channel;
    struct mz_symbols *s = mz_symbols_open(c, outcome->program);
    *bug = (struct mz_bug){.kind = (enum mz_kind)f->kind, .thread = f->thread, .code = f->code};
    if (f->kind == MZ_KIND_DEADLOCK) bug->thread = deadlocked_thread(f);
    bug->execution = f->execution;
    bug->hash = f->hash;
    if (f->area == MZ_AREA_HEAP) bug->block = f->object_start;
    bug->schedule = mz_memory_new(length * sizeof *schedule);
    memcpy(bug->schedule, schedule, length * sizeof *schedule);
    bug->schedule_length = length;
    bug->slots = mz_memory_new(sizeof c->threads);
    memcpy(bug->slots, c->threads, sizeof c->threads);
    if (f->kind == MZ_KIND_ASSERTION) bug->expression = mz_memory_string(f->text);
    collect_threads(s, c, f, bug);
    collect_accesses(s, f, bug);
    collect_bug_place(s, f, bug);
    bug->message = describe(s, c, f, bug->object);
    mz_collect_history(s, f, bug);
    collect_operations(s, c, f, bug);
    end_with_failure(bug);
    if (f->kind == MZ_KIND_DEADLOCK && bug->operation_count) end_with_waiting(bug);
    mz_symbols_close(s);
}

bool mz_collect_death(const struct mz_outcome *outcome, struct mz_finding *f)
{
    const struct mz_channel *c = outcome->channel;
    const struct mz_step *live = (const void *)((const char *)c + c->live_offset);
    int signal = WIFSIGNALED(outcome->wait_status) ? WTERMSIG(outcome->wait_status) : 0;
    if (!c->started || c->end != MZ_END_RUNNING || outcome->killed) return false;
    *f = (struct mz_finding){.kind = MZ_KIND_CRASH, .code = signal, .execution = c->counters.executions + 1};
    f->steps = (uint32_t)c->live_length;
    f->steps_offset = c->live_offset;
    if (f->steps > 0) f->thread = live[f->steps - 1].thread;
    f->address = UINT64_MAX;
    if (!signal)
        snprintf(f->text, sizeof f->text, "the program ended its process by itself, with status %d",
                 WEXITSTATUS(outcome->wait_status));
    return true;
}

/* ---- the run as a whole ---- */

static char *where(const struct mz_outcome *outcome)
{
    const struct mz_channel *c = outcome->channel;
    const char *name = c->end_thread < MZ_MAX_THREADS ? c->threads[c->end_thread].name : "";
    struct mz_symbols *s = mz_symbols_open(c, outcome->program);
    struct mz_strbuf b = {0};
    char *file = NULL;
    unsigned line = 0;
    set_place(s, &c->end_place, &file, &line);
    if (name[0]) mz_strbuf_addf(&b, "thread %s", name);
    if (file) mz_strbuf_addf(&b, "%s%s:%u", name[0] ? ", " : "", file, line);
    free(file);
    mz_symbols_close(s);
    return mz_strbuf_take(&b);
}

static char *with_place(const struct mz_outcome *outcome, const char *text)
{
    char *place = where(outcome), *all;
    all = place[0] ? mz_format("%s (%s)", text, place) : mz_memory_string(text);
    free(place);
    return all;
}

/* So many of them; NULL: bytes. */
static char *limit_of(const char *before, uint64_t n, const char *what, const char *after)
{
    struct mz_strbuf b = {0};
    mz_strbuf_addf(&b, "%s ", before);
    if (what)
        mz_strbuf_add_count(&b, n, what);
    else
        mz_strbuf_add_size(&b, n);
    mz_strbuf_add(&b, after);
    return mz_strbuf_take(&b);
}

static char *reason_of_steps(const struct mz_outcome *outcome)
{
    const struct mz_channel *c = outcome->channel;
    char *text = c->end_text[0]
                     ? mz_memory_string(c->end_text)
                     : limit_of("an execution reached the limit of", c->options.max_steps, "step", "");
    char *all = with_place(outcome, text);
    free(text);
    return all;
}

static char *reason_of_stop(const struct mz_outcome *outcome)
{
    if (outcome->interrupted) return mz_memory_string("it was interrupted");
    if (outcome->stalled) return with_place(outcome, "a thread loops or waits without any shared operation");
    char *text = mz_format("the time limit of %g s was reached", outcome->time_limit);
    char *all = outcome->killed ? with_place(outcome, text) : mz_memory_string(text);
    free(text);
    return all;
}

static enum mz_verdict limit(struct mz_report *report, char *reason)
{
    report->reason = reason;
    return MZ_INCOMPLETE;
}

static enum mz_verdict vacuous(struct mz_report *report, const char *reason)
{
    report->reason = mz_memory_string(reason);
    return MZ_VACUOUS;
}

static enum mz_verdict failed(struct mz_report *report, char *reason)
{
    report->reason = reason;
    return MZ_FAILED;
}

/* No state is compared, so an endless loop was followed for some rounds only: runtime/rounds.c. */
static char *reason_of_rounds(const struct mz_outcome *outcome)
{
    char *text = limit_of("a loop that need not end was followed for", MZ_ROUNDS, "round",
                          " only; try --algorithm=stateful");
    if (!outcome->channel->end_place.pc[0]) return text; /* an earlier run met it: --resume */
    char *all = with_place(outcome, text);
    free(text);
    return all;
}

static enum mz_verdict verdict_of_complete(const struct mz_channel *c, struct mz_report *report)
{
    if (!c->instrumented) return vacuous(report, "none of the program's code was compiled with `mazurka cc`");
    if (c->counters.hooks == 0) return vacuous(report, "no code compiled with `mazurka cc` ever ran");
    if (c->counters.threads < 2) return vacuous(report, "the program never started a second thread");
    if (c->counters.executions == 0) return vacuous(report, "no execution came to its end");
    if (c->counters.kept == 0)
        return vacuous(report,
                       "in every execution an assumption does not hold (mz_assume, __VERIFIER_assume)");
    return MZ_VERIFIED;
}

static enum mz_verdict verdict_of_end(const struct mz_outcome *outcome, struct mz_report *report)
{
    const struct mz_channel *c = outcome->channel;
    switch ((enum mz_end)c->end) {
    case MZ_END_COMPLETE:
        return verdict_of_complete(c, report);
    case MZ_END_EXECUTIONS:
        return limit(report,
                     limit_of("the limit of", c->options.max_executions, "execution", " was reached"));
    case MZ_END_ROUNDS:
        return limit(report, reason_of_rounds(outcome));
    case MZ_END_STEPS:
        return limit(report, reason_of_steps(outcome));
    case MZ_END_MEMORY:
        if (!c->options.memory_limit)
            return limit(report, mz_memory_string("the search needs more memory than it can have"));
        return limit(report, limit_of("the memory limit of", c->options.memory_limit, NULL, " was reached"));
    case MZ_END_TIME:
        return limit(report, reason_of_stop(outcome));
    case MZ_END_UNSUPPORTED:
        return failed(report, with_place(outcome, c->end_text));
    case MZ_END_DIVERGED:
        return failed(report, mz_memory_string(c->end_text));
    case MZ_END_INTERNAL:
        return failed(report, mz_format("internal error: %s", c->end_text));
    case MZ_END_RUNNING:
        if (outcome->lost)
            return limit(report,
                         mz_memory_string(
                             "the program was killed from outside (SIGKILL), perhaps for lack of memory"));
        if (outcome->killed) return limit(report, reason_of_stop(outcome));
        break;
    case MZ_END_UNSEEN: /* the command starts over, unless it was asked to stop */
        return limit(report,
                     mz_memory_string("the program writes memory without a hook, and the search did not "
                                      "start over"));
    case MZ_END_COUNT:
    case MZ_END_FINDING:
        break;
    }
    return failed(report, mz_memory_string("internal error: the target ended without a result"));
}

/* ---- warnings ---- */

/* Mutexes that are taken in a circle, though no schedule of this test deadlocks. */
static char *describe_circle(struct mz_symbols *s, const struct mz_channel *c, const struct mz_warning *w)
{
    struct mz_strbuf b = {0};
    mz_strbuf_add(&b, "mutexes are locked in a circle:");
    for (uint32_t i = 0; i < w->steps && i < MZ_WARNING_STEPS; i++) {
        struct mz_place place = {{w->step[i].pc, 0}};
        char *held = object_name(s, MZ_OP_LOCK, w->step[i].held, 0), *file = NULL;
        char *locked = object_name(s, MZ_OP_LOCK, w->step[i].locked, 0);
        unsigned line = 0;
        set_place(s, &place, &file, &line);
        mz_strbuf_addf(&b, "%s thread %s locks %s while it holds %s", i ? "," : "",
                       c->threads[w->step[i].thread % MZ_MAX_THREADS].name, locked ? locked : "?",
                       held ? held : "?");
        if (file) mz_strbuf_addf(&b, " (%s:%u)", file, line);
        free(held);
        free(locked);
        free(file);
    }
    return mz_strbuf_take(&b);
}

static void collect_warnings(const struct mz_outcome *outcome, struct mz_report *report)
{
    const struct mz_channel *c = outcome->channel;
    if (!c->warning_count) return;
    for (size_t i = 0; i < report->bug_count; i++)
        if (report->bugs[i].kind == MZ_KIND_DEADLOCK) return; /* it is more than a warning */
    struct mz_symbols *s = mz_symbols_open(c, outcome->program);
    for (uint32_t i = 0; i < c->warning_count; i++) {
        char *text = describe_circle(s, c, &c->warnings[i]);
        mz_list_add(&report->warnings, text);
        free(text);
    }
    mz_symbols_close(s);
}

/* ---- memory orders ---- */

static void describe_access(struct mz_strbuf *b, struct mz_symbols *s, const struct mz_reorder *r, int i)
{
    struct mz_place place = {{r->pc[i], 0}};
    char *object = object_name(s, MZ_OP_STORE, r->key[i], 0), *file = NULL;
    unsigned line = 0;
    set_place(s, &place, &file, &line);
    mz_strbuf_addf(b, "%s %s", r->writes[i] ? "store to" : "load of", object ? object : "an object");
    if (file) mz_strbuf_addf(b, " (%s:%u)", mz_files_base(file), line);
    free(object);
    free(file);
}

/* Atomics run sequentially consistent: accesses that could also happen in the other order were not seen so. */
static void collect_reorders(const struct mz_outcome *outcome, struct mz_report *report)
{
    const struct mz_channel *c = outcome->channel;
    if (!c->reorder_count) return;
    struct mz_symbols *s = mz_symbols_open(c, outcome->program);
    for (uint32_t i = 0; i < c->reorder_count; i++) {
        const struct mz_reorder *r = &c->reorders[i];
        struct mz_strbuf b = {0};
        mz_strbuf_addf(&b, "weak memory is not explored: thread %s may do its ",
                       c->threads[r->thread % MZ_MAX_THREADS].name);
        describe_access(&b, s, r, 1);
        mz_strbuf_add(&b, " before its ");
        describe_access(&b, s, r, 0);
        mz_strbuf_add(&b, ", their memory orders allow it");
        if (!mz_list_has(&report->unseen, mz_strbuf_text(&b)))
            mz_list_add(&report->unseen, mz_strbuf_text(&b));
        mz_strbuf_release(&b);
    }
    mz_symbols_close(s);
}

void mz_collect_run(const struct mz_outcome *outcome, struct mz_report *report)
{
    const struct mz_channel *c = outcome->channel;
    report->counters = c->counters;
    report->switch_ns = c->switch_ns;
    report->seconds = outcome->seconds;
    report->processor = outcome->processor;
    report->peak_memory = outcome->peak_memory;
    report->sharing = outcome->sharing;
    report->bugs_lost = c->findings_lost;
    report->memory_limit = c->options.memory_limit;
    report->end = (enum mz_end)c->end;
    report->interrupted = c->end != MZ_END_COMPLETE;
    for (size_t i = 0; i < sizeof c->notes / MZ_TEXT && c->notes[i][0]; i++)
        mz_list_add(&report->notes, c->notes[i]);
    for (size_t i = 0; i < MZ_MAX_UNSEEN && c->unseen[i][0]; i++)
        if (!mz_list_has(&report->unseen, c->unseen[i])) mz_list_add(&report->unseen, c->unseen[i]);
    collect_reorders(outcome, report);
    mz_collect_unseen(outcome, &report->unseen);
    if (c->hint[0]) report->hint = mz_memory_string(c->hint);
    collect_warnings(outcome, report);
    if (report->bug_count)
        report->verdict = MZ_ERROR;
    else if (report->unreplayed)
        report->verdict = limit(report, mz_format("a finding could not be replayed: %s", report->unreplayed));
    else
        report->verdict = verdict_of_end(outcome, report);
    if (report->verdict == MZ_VERIFIED && report->strict && report->unseen.count) {
        report->verdict = MZ_INCOMPLETE;
        report->reason = mz_memory_string("not everything was seen (--strict)");
    }
    if (!report->bug_count || c->end == MZ_END_FINDING || c->end == MZ_END_COMPLETE) return;
    if (c->end == MZ_END_RUNNING && !outcome->killed)
        report->reason = mz_memory_string("the program's process is gone");
    else
        verdict_of_end(outcome, report); /* for its reason: what else ended the search */
}
