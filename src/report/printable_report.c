/* A report whose strings a terminal can show: see printable_report.h. */
#include "report/printable_report.h"

#include "base/printable.h"

static void stack(struct mz_stack *s)
{
    for (size_t i = 0; i < s->count; i++) {
        mz_string_printable(&s->frames[i].function);
        mz_string_printable(&s->frames[i].file);
    }
}

static void access_report(struct mz_access_report *a)
{
    mz_string_printable(&a->object);
    stack(&a->stack);
}

static void thread(struct mz_thread_report *t)
{
    mz_string_printable(&t->name);
    mz_string_printable(&t->function);
    mz_string_printable(&t->object);
    stack(&t->stack);
}

static void operation(struct mz_operation *o)
{
    mz_string_printable(&o->object);
    mz_string_printable(&o->value);
    mz_string_printable(&o->new_value);
    mz_string_printable(&o->file);
}

static void finding(struct mz_finding_report *b)
{
    char **const strings[] = {&b->message, &b->expression, &b->file,
                              &b->object,  &b->trace,      &b->replay_problem};
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) mz_string_printable(strings[i]);
    for (int i = 0; i < 2; i++) access_report(&b->access[i]);
    access_report(&b->allocated);
    access_report(&b->freed);
    for (size_t i = 0; i < b->leak_count; i++) access_report(&b->leaks[i].allocated);
    for (size_t i = 0; i < b->thread_count; i++) thread(&b->threads[i]);
    for (size_t i = 0; i < b->operation_count; i++) operation(&b->operations[i]);
}

void mz_report_printable(struct mz_report *report)
{
    mz_string_printable(&report->program);
    mz_string_printable(&report->reason);
    mz_string_printable(&report->hint);
    mz_list_printable(&report->unseen);
    mz_list_printable(&report->notes);
    mz_list_printable(&report->warnings);
    for (size_t i = 0; i < report->hot_spot_count; i++) {
        mz_string_printable(&report->hot_spots[i].object);
        mz_string_printable(&report->hot_spots[i].file);
    }
    for (size_t i = 0; i < report->finding_count; i++) finding(&report->findings[i]);
}
