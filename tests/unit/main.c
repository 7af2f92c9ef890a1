/* Runs every group of unit tests. Ends with "N passed, M failed"; exit status 1 if a test failed. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/bug.h"

static size_t tests_run, tests_failed;

void unit_group(const char *name, const struct CMUnitTest *tests, size_t count)
{
    int failed = _cmocka_run_group_tests(name, tests, count, NULL, NULL);
    tests_run += count;
    tests_failed += failed < 0 ? count : (size_t)failed;
}

_Noreturn void mz_bug(const char *file, int line, const char *what)
{
    mock_assert(0, what, file, line);
    abort();
}

int main(void)
{
    static void (*const groups[])(void) = {
        unit_base_text,     unit_base_words,   unit_base_data,     unit_event_channel, unit_event_finished,
        unit_event_layout,  unit_event_packet, unit_engine_counts, unit_engine_order,  unit_engine_path,
        unit_engine_memory, unit_engine_waits, unit_report_trace,  unit_trace_classes,
    };
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) groups[i]();
    fflush(stderr);
    printf("%zu passed, %zu failed\n", tests_run - tests_failed, tests_failed);
    return tests_failed != 0;
}
