/* Tests trace files: the steps of a schedule, with and without sources. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/memory.h"
#include "report/tracefile.h"

static char file[] = "/tmp/mz-unit-trace-XXXXXX";

static void write_trace(struct mz_step *schedule, size_t length)
{
    struct mz_recipe recipe = {.algorithm = mz_memory_string("none")};
    struct mz_finding_report finding = {
        .kind = MZ_KIND_ASSERTION, .schedule = schedule, .schedule_length = length};
    finding.slots = mz_memory_new(MZ_MAX_THREADS * sizeof *finding.slots);
    for (int s = 0; s < 2; s++) {
        finding.slots[s].used = 1;
        strcpy(finding.slots[s].name, s ? "0.1" : "0");
    }
    assert_int_equal(mz_trace_write(file, &recipe, &finding), 0);
    free(finding.slots);
    mz_recipe_release(&recipe);
}

static int format_of_file(void)
{
    int format = 0;
    FILE *f = fopen(file, "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "mazurka-trace\t%d", &format), 1);
    fclose(f);
    return format;
}

/* Write the schedule, read it back, and compare. Return the format of the file. */
static int round_trip(struct mz_step *schedule, size_t length)
{
    struct mz_recipe recipe;
    struct mz_finding_report finding;
    int fd = mkstemp(strcpy(file, "/tmp/mz-unit-trace-XXXXXX"));
    assert_true(fd >= 0);
    close(fd);
    write_trace(schedule, length);
    assert_int_equal(mz_trace_read(file, &recipe, &finding), 0);
    assert_int_equal(finding.schedule_length, length);
    assert_memory_equal(finding.schedule, schedule, length * sizeof *schedule);
    int format = format_of_file();
    mz_finding_report_release(&finding);
    mz_recipe_release(&recipe);
    unlink(file);
    return format;
}

static void steps_without_sources(void **state)
{
    (void)state;
    struct mz_step schedule[] = {{.thread = 0}, {.thread = 1, .choice = 3}};
    assert_int_equal(round_trip(schedule, 2), 2);
}

static void steps_with_sources(void **state)
{
    (void)state;
    struct mz_step schedule[] = {
        {.thread = 0}, {.thread = 1, .choice = 1, .source = 1}, {.thread = 1, .source = MZ_SOURCE_INITIAL}};
    assert_int_equal(round_trip(schedule, 3), 3);
}

static void a_source_must_come_before_its_read(void **state)
{
    (void)state;
    struct mz_recipe recipe;
    struct mz_finding_report finding;
    struct mz_step schedule[] = {{.thread = 0}, {.thread = 1, .source = 2}};
    int fd = mkstemp(strcpy(file, "/tmp/mz-unit-trace-XXXXXX"));
    assert_true(fd >= 0);
    close(fd);
    write_trace(schedule, 2);
    assert_int_not_equal(mz_trace_read(file, &recipe, &finding), 0);
    mz_finding_report_release(&finding);
    mz_recipe_release(&recipe);
    unlink(file);
}

void unit_report_trace(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_without_sources),
        cmocka_unit_test(steps_with_sources),
        cmocka_unit_test(a_source_must_come_before_its_read),
    };
    UNIT_GROUP("report: trace files", tests);
}
