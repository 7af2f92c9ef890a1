/* A finding, explained: operations, threads, places. See collect.h. */
#include "report/collect_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "report/symbolize/blocks.h"
#include "base/memory.h"

#define NO_THREAD 255

/* ---- operations ---- */

static bool has_trait(unsigned op, unsigned trait) { return mz_op_info(op)->traits & trait; }

/* Is the operation a scheduling decision of the engine? */
static bool is_visible(unsigned op) { return mz_op_info(op)->when == MZ_WHEN_VISIBLE; }

static enum mz_named naming_of(unsigned op)
{
    return (enum mz_named)mz_object_kinds[mz_op_info(op)->object].named;
}

char *mz_collect_object(struct mz_symbols *s, unsigned op, uint64_t address, uint32_t size)
{
    struct mz_object object;
    enum mz_named named = naming_of(op);
    if (named == MZ_NAMED_NONE || !address) return NULL;
    if (named == MZ_NAMED_FUNCTION) return mz_symbols_function(s, address);
    mz_symbols_object(s, address, named == MZ_NAMED_START ? 0 : size ? size : 1, &object);
    return object.name;
}

void mz_collect_place(struct mz_symbols *s, const struct mz_place *place, char **file, unsigned *line)
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
    if (naming_of(r->op) == MZ_NAMED_BYTES) mz_symbols_object(s, r->object, r->size ? r->size : 1, &object);
    o->value = mz_symbols_value(s, &object, r->value, r->size ? r->size : 8);
    bool stored = has_trait(r->op, MZ_TRAIT_UPDATES) && !o->failed;
    if (stored) o->new_value = mz_symbols_value(s, &object, r->value2, r->size ? r->size : 8);
    free(object.name);
}

/* A signal and the thread that it woke are one row. */
static bool joins_signal(const struct mz_record *r, const struct mz_finding_report *finding)
{
    if (r->op != MZ_OP_WOKEN || finding->operation_count == 0) return false;
    struct mz_operation *last = &finding->operations[finding->operation_count - 1];
    if (!has_trait(last->op, MZ_TRAIT_WAKES) || !has_trait(last->op, MZ_TRAIT_CHOOSES)) return false;
    if (last->thread != r->thread || last->other >= 0) return false;
    last->other = r->other;
    return true;
}

static void collect_operation(struct mz_symbols *s, const struct mz_record *r, uint32_t step,
                              struct mz_finding_report *finding)
{
    if (joins_signal(r, finding)) return;
    struct mz_operation *o = mz_finding_report_add_operation(finding);
    o->step = step;
    o->thread = r->thread;
    o->op = r->op;
    o->failed = r->flags & MZ_RECORD_FAILED;
    if (has_trait(r->op, MZ_TRAIT_OTHER) && r->other != NO_THREAD) o->other = r->other;
    o->object = mz_collect_object(s, r->op, r->object, r->size);
    collect_values(s, r, o);
    mz_collect_place(s, &r->place, &o->file, &o->line);
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

/* The two accesses of a data race, [0] is the later one; UINT32_MAX if not recorded. The search stops at a race, so
 * [0] is the last access. With --keep-going it is the first access at its place that another access precedes. */
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

/* With --keep-going the execution continued after the finding; ignore what followed. */
static uint32_t last_of(const struct mz_channel *c, const struct mz_finding *f, uint32_t racing)
{
    const struct mz_record *records = (const void *)((const char *)c + c->records_offset);
    if (f->kind == MZ_KIND_DATA_RACE) return racing;
    for (uint32_t i = 0; i < c->record_count; i++)
        if (records[i].op == MZ_OP_FAIL && records[i].thread == f->thread) return i;
    return UINT32_MAX;
}

static void collect_operations(struct mz_symbols *s, const struct mz_channel *c, const struct mz_finding *f,
                               struct mz_finding_report *finding)
{
    const struct mz_record *records = (const void *)((const char *)c + c->records_offset);
    uint32_t racing[2], step = 0;
    find_racing(c, f, racing);
    uint32_t last = last_of(c, f, racing[0]);
    for (uint32_t i = 0; i < c->record_count && i <= last; i++) {
        step += is_visible(records[i].op);
        if (has_trait(records[i].op, MZ_TRAIT_HIDDEN)) continue;
        mz_symbols_at_moment(s, i + 1, records[i].frame_pc, records[i].frame_cfa);
        collect_operation(s, &records[i], step, finding);
        if (i == racing[0] || i == racing[1]) finding->operations[finding->operation_count - 1].racing = true;
    }
    mz_symbols_at_moment(s, UINT32_MAX, 0, 0);
    finding->operations_lost = c->record_lost;
}

/* The schedule ends with the failure itself, even if the runtime could not record it any more. */
static void end_with_failure(struct mz_finding_report *finding)
{
    if (finding->kind == MZ_KIND_DEADLOCK || finding->kind == MZ_KIND_DATA_RACE ||
        finding->kind == MZ_KIND_EXIT_CODE || finding->kind == MZ_KIND_LEAK)
        return;
    if (finding->operation_count == 0) return;
    const struct mz_operation *last = &finding->operations[finding->operation_count - 1];
    if (last->op == MZ_OP_FAIL) return;
    uint32_t step = last->step;
    struct mz_operation *o = mz_finding_report_add_operation(finding);
    o->op = MZ_OP_FAIL;
    o->thread = finding->thread;
    o->step = step;
    o->file = mz_memory_string(finding->file);
    o->line = finding->line;
}

static uint8_t waiting_op(const struct mz_thread_report *t)
{
    if (t->state == MZ_THREAD_JOINING) return MZ_OP_JOIN;
    if (t->state == MZ_THREAD_SEMWAIT) return MZ_OP_SEM_WAIT;
    return t->op ? t->op : (uint8_t)MZ_OP_LOCK;
}

/* Add rows for the operations at which the threads of a deadlock wait, though they did not happen. */
static void end_with_waiting(struct mz_finding_report *finding)
{
    uint32_t step = finding->operation_count ? finding->operations[finding->operation_count - 1].step : 0;
    for (size_t i = 0; i < finding->thread_count; i++) {
        const struct mz_thread_report *t = &finding->threads[i];
        const struct mz_frame *frame = mz_stack_source(&t->stack);
        /* If waiting is an operation by itself, the row exists already. */
        bool shown = t->state == MZ_THREAD_WAITING || t->state == MZ_THREAD_BARRIER ||
                     t->state == MZ_THREAD_FUTEX || t->state == MZ_THREAD_SIGWAIT;
        if (!mz_describe_is_blocked(t->state) || shown) continue;
        struct mz_operation *o = mz_finding_report_add_operation(finding);
        o->op = waiting_op(t);
        o->thread = t->slot;
        o->step = step;
        o->failed = true;
        o->object = mz_memory_string(t->object);
        if (t->state == MZ_THREAD_JOINING) o->other = t->holder;
        if (mz_op_info(o->op)->shows == MZ_SHOW_OUTCOME) o->value = mz_memory_string("waits");
        o->file = mz_memory_string(frame ? frame->file : NULL);
        o->line = frame ? frame->line : 0;
    }
}

/* ---- threads ---- */

/* The function that a thread runs: its start routine; or, if that belongs to the C++ library, the outermost function
 * of the user in any place where the thread was seen. */
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
    bool waits = mz_describe_is_blocked(final->state) && final->state != MZ_THREAD_JOINING;
    unsigned as_object = naming_of(final->op) == MZ_NAMED_FUNCTION ? final->op : MZ_OP_LOCK;
    unsigned op = waits ? as_object : final->state == MZ_THREAD_SPINNING ? MZ_OP_LOAD : final->op;
    t->object = mz_collect_object(s, op, final->object, 0);
    mz_symbols_stack(s, slot == f->thread && !final->place.pc[0] ? &f->place : &final->place, &t->stack);
}

static void collect_threads(struct mz_symbols *s, const struct mz_channel *c, const struct mz_finding *f,
                            struct mz_finding_report *finding)
{
    finding->threads = mz_memory_new(MZ_MAX_THREADS * sizeof *finding->threads);
    for (int i = 0; i < MZ_MAX_THREADS; i++)
        if (i == 0 || c->threads[i].used || f->threads[i].state != MZ_THREAD_ABSENT)
            collect_thread(s, c, f, i, &finding->threads[finding->thread_count++]);
}

/* ---- a finding ---- */

static void collect_accesses(struct mz_symbols *s, const struct mz_finding *f,
                             struct mz_finding_report *finding)
{
    finding->access[0] = (struct mz_access_report){.thread = f->thread, .op = f->op, .size = f->size};
    mz_symbols_stack(s, &f->place, &finding->access[0].stack);
    if (f->kind == MZ_KIND_NONDETERMINISM) {
        finding->access[1] = (struct mz_access_report){.thread = f->thread, .op = f->other_op};
        mz_symbols_stack(s, &f->other_place, &finding->access[1].stack);
        finding->access[0].object = mz_collect_object(s, f->op, f->address, 0);
        finding->access[1].object = mz_collect_object(s, f->other_op, f->other_address, 0);
    }
    if (f->kind != MZ_KIND_DATA_RACE) return;
    finding->access[1] =
        (struct mz_access_report){.thread = f->other_thread, .op = f->other_op, .size = f->other_size};
    mz_symbols_stack(s, &f->other_place, &finding->access[1].stack);
    mz_symbols_at_moment(s, UINT32_MAX, f->frame_pc, f->frame_cfa);
    finding->object = mz_collect_object(s, MZ_OP_READ, f->address, f->size);
    mz_symbols_at_moment(s, UINT32_MAX, 0, 0);
    finding->address = f->address;
    finding->size = f->size;
}

/* __FILE__ is relative to where the compiler ran: where the call stack knows the file, its path is taken. */
static char *path_of_file(const struct mz_stack *stack, const char *file)
{
    const struct mz_frame *frame = mz_stack_source(stack);
    const char *path = frame ? frame->file : NULL;
    size_t n = strlen(file), m = path ? strlen(path) : 0;
    bool same = path && m >= n && !strcmp(path + m - n, file) && (m == n || path[m - n - 1] == '/');
    return mz_memory_string(same ? path : file);
}

static void collect_place_of(struct mz_symbols *s, const struct mz_finding *f,
                             struct mz_finding_report *finding)
{
    const struct mz_place *place = &f->place;
    if (f->file[0]) {
        finding->file = path_of_file(&finding->access[0].stack, f->file);
        finding->line = f->line;
        return;
    }
    if (f->kind == MZ_KIND_DEADLOCK || f->kind == MZ_KIND_LIVELOCK || !place->pc[0])
        place = &f->threads[finding->thread].place;
    if (!place->pc[0]) place = &f->place;
    mz_collect_place(s, place, &finding->file, &finding->line);
}

void mz_collect_finding(const struct mz_outcome *outcome, const struct mz_finding *f,
                        const struct mz_step *schedule, size_t length, struct mz_finding_report *finding)
{
    const struct mz_channel *c = outcome->channel;
    struct mz_symbols *s = mz_symbols_open(c, outcome->program);
    *finding =
        (struct mz_finding_report){.kind = (enum mz_kind)f->kind, .thread = f->thread, .code = f->code};
    if (f->kind == MZ_KIND_DEADLOCK) finding->thread = mz_describe_deadlocked_thread(f);
    finding->execution = f->execution;
    finding->hash = f->hash;
    if (f->area == MZ_AREA_HEAP) finding->block = f->object_start;
    finding->schedule = mz_memory_new(length * sizeof *schedule);
    memcpy(finding->schedule, schedule, length * sizeof *schedule);
    finding->schedule_length = length;
    finding->slots = mz_memory_new(sizeof c->threads);
    memcpy(finding->slots, c->threads, sizeof c->threads);
    if (f->kind == MZ_KIND_ASSERTION) finding->expression = mz_memory_string(f->text);
    collect_threads(s, c, f, finding);
    collect_accesses(s, f, finding);
    collect_place_of(s, f, finding);
    finding->message = mz_describe_finding(s, c, f, finding->object);
    mz_collect_history(s, f, finding);
    collect_operations(s, c, f, finding);
    end_with_failure(finding);
    if (f->kind == MZ_KIND_DEADLOCK && finding->operation_count) end_with_waiting(finding);
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
