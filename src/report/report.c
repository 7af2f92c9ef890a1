/* The report's data: names of verdicts, building and releasing. See report.h. */
#include "report/report.h"

#include <stdlib.h>
#include "base/memory.h"

const char *mz_verdict_name(enum mz_verdict verdict)
{
    static const char *const names[] = {"verified", "error", "incomplete", "vacuous", "failed"};
    return names[verdict];
}

const char *mz_bound_unit(enum mz_bound bound) { return bound == MZ_BOUND_DELAYS ? "delay" : "preemption"; }

enum mz_status mz_verdict_status(enum mz_verdict verdict)
{
    static const enum mz_status status[] = {MZ_STATUS_VERIFIED, MZ_STATUS_ERROR, MZ_STATUS_INCOMPLETE,
                                            MZ_STATUS_VACUOUS, MZ_STATUS_FAILED};
    return status[verdict];
}

const struct mz_thread_report *mz_finding_report_thread(const struct mz_finding_report *finding, int slot)
{
    for (size_t i = 0; i < finding->thread_count; i++)
        if (finding->threads[i].slot == slot) return &finding->threads[i];
    return NULL;
}

const char *mz_finding_report_thread_name(const struct mz_finding_report *finding, int slot)
{
    const struct mz_thread_report *t = mz_finding_report_thread(finding, slot);
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

struct mz_operation *mz_finding_report_add_operation(struct mz_finding_report *finding)
{
    MZ_GROW(finding->operations, finding->operation_count, finding->operation_capacity);
    struct mz_operation *o = &finding->operations[finding->operation_count++];
    *o = (struct mz_operation){.other = -1};
    return o;
}

void mz_finding_report_set_locations(struct mz_finding_report *finding, const struct mz_location *locations,
                                     size_t count)
{
    free(finding->locations);
    finding->locations = mz_memory_new((count + 1) * sizeof *locations);
    finding->location_count = count;
    for (size_t i = 0; i < count; i++) finding->locations[i] = locations[i];
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

void mz_finding_report_release(struct mz_finding_report *finding)
{
    for (size_t i = 0; i < finding->operation_count; i++) release_operation(&finding->operations[i]);
    for (size_t i = 0; i < finding->thread_count; i++) release_thread(&finding->threads[i]);
    for (int i = 0; i < 2; i++) {
        mz_stack_release(&finding->access[i].stack);
        free(finding->access[i].object);
    }
    mz_stack_release(&finding->allocated.stack);
    mz_stack_release(&finding->freed.stack);
    for (size_t i = 0; i < finding->leak_count; i++) mz_stack_release(&finding->leaks[i].allocated.stack);
    free(finding->leaks);
    free(finding->operations);
    free(finding->threads);
    free(finding->message);
    free(finding->expression);
    free(finding->file);
    free(finding->object);
    free(finding->slots);
    free(finding->schedule);
    free(finding->locations);
    free(finding->trace);
    free(finding->replay_problem);
    *finding = (struct mz_finding_report){0};
}

void mz_hot_spot_report_release(struct mz_hot_spot_report *spot)
{
    free(spot->object);
    free(spot->file);
}

void mz_report_release(struct mz_report *report)
{
    for (size_t i = 0; i < report->finding_count; i++) mz_finding_report_release(&report->findings[i]);
    free(report->findings);
    free(report->program);
    free(report->reason);
    for (size_t i = 0; i < report->hot_spot_count; i++) mz_hot_spot_report_release(&report->hot_spots[i]);
    free(report->hot_spots);
    free(report->beside);
    mz_list_release(&report->unreached);
    mz_list_release(&report->unseen);
    free(report->unreplayed);
    mz_list_release(&report->notes);
    free(report->hint);
    mz_list_release(&report->warnings);
    *report = (struct mz_report){0};
}
