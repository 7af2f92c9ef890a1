/* The report's data: names of verdicts, building and releasing. See report.h. */
#include "report.h"

#include <stdlib.h>
#include "memory.h"

const char *mz_verdict_name(enum mz_verdict verdict)
{
    static const char *const names[] = {"verified", "error", "incomplete", "vacuous", "failed"};
    return names[verdict];
}

enum mz_status mz_verdict_status(enum mz_verdict verdict)
{
    static const enum mz_status status[] = {MZ_STATUS_VERIFIED, MZ_STATUS_ERROR, MZ_STATUS_INCOMPLETE,
                                            MZ_STATUS_VACUOUS, MZ_STATUS_FAILED};
    return status[verdict];
}

const struct mz_thread_report *mz_bug_thread(const struct mz_bug *bug, int slot)
{
    for (size_t i = 0; i < bug->thread_count; i++)
        if (bug->threads[i].slot == slot) return &bug->threads[i];
    return NULL;
}

const char *mz_bug_thread_name(const struct mz_bug *bug, int slot)
{
    const struct mz_thread_report *t = mz_bug_thread(bug, slot);
    return t && t->name ? t->name : "?";
}

struct mz_frame *mz_stack_add(struct mz_stack *s, const char *function, const char *file, unsigned line)
{
    MZ_GROW(s->frames, s->count, s->capacity);
    struct mz_frame *f = &s->frames[s->count++];
    f->function = mz_memory_string(function);
    f->file = mz_memory_string(file);
    f->line = line;
    return f;
}

void mz_stack_copy(struct mz_stack *to, const struct mz_stack *from)
{
    for (size_t i = 0; i < from->count; i++)
        mz_stack_add(to, from->frames[i].function, from->frames[i].file, from->frames[i].line);
}

void mz_stack_release(struct mz_stack *s)
{
    for (size_t i = 0; i < s->count; i++) {
        free(s->frames[i].function);
        free(s->frames[i].file);
    }
    free(s->frames);
    *s = (struct mz_stack){0};
}

struct mz_operation *mz_bug_add_operation(struct mz_bug *bug)
{
    MZ_GROW(bug->operations, bug->operation_count, bug->operation_capacity);
    struct mz_operation *o = &bug->operations[bug->operation_count++];
    *o = (struct mz_operation){.other = -1};
    return o;
}

void mz_bug_set_locations(struct mz_bug *bug, const struct mz_location *locations, size_t count)
{
    free(bug->locations);
    bug->locations = mz_memory_new((count + 1) * sizeof *locations);
    bug->location_count = count;
    for (size_t i = 0; i < count; i++) bug->locations[i] = locations[i];
}

static void release_operation(struct mz_operation *o)
{
    free(o->object);
    free(o->value);
    free(o->new_value);
    free(o->file);
}

static void release_thread(struct mz_thread_report *t)
{
    free(t->name);
    free(t->function);
    free(t->object);
    mz_stack_release(&t->stack);
}

void mz_bug_release(struct mz_bug *bug)
{
    for (size_t i = 0; i < bug->operation_count; i++) release_operation(&bug->operations[i]);
    for (size_t i = 0; i < bug->thread_count; i++) release_thread(&bug->threads[i]);
    for (int i = 0; i < 2; i++) {
        mz_stack_release(&bug->access[i].stack);
        free(bug->access[i].object);
    }
    mz_stack_release(&bug->allocated.stack);
    mz_stack_release(&bug->freed.stack);
    for (size_t i = 0; i < bug->leak_count; i++) mz_stack_release(&bug->leaks[i].allocated.stack);
    free(bug->leaks);
    free(bug->operations);
    free(bug->threads);
    free(bug->message);
    free(bug->expression);
    free(bug->file);
    free(bug->object);
    free(bug->slots);
    free(bug->schedule);
    free(bug->locations);
    free(bug->trace);
    free(bug->replay_problem);
    *bug = (struct mz_bug){0};
}

void mz_report_release(struct mz_report *report)
{
    for (size_t i = 0; i < report->bug_count; i++) mz_bug_release(&report->bugs[i]);
    free(report->bugs);
    free(report->program);
    free(report->reason);
    mz_list_release(&report->unseen);
    free(report->unreplayed);
    mz_list_release(&report->notes);
    free(report->hint);
    mz_list_release(&report->warnings);
    *report = (struct mz_report){0};
}
