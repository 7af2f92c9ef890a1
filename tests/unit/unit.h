/* Unit tests, with cmocka. A file tests one or a few modules through their headers; its last function is its group.
 * main.c runs all groups. MZ_BUG ends a test, and expect_assert_failure() expects it. */
#ifndef MZ_TESTS_UNIT_H
#define MZ_TESTS_UNIT_H

/* clang-format off: cmocka.h needs the first three */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

/* Run the tests of an array and count them. */
#define UNIT_GROUP(name, tests) unit_group((name), (tests), sizeof(tests) / sizeof *(tests))
void unit_group(const char *name, const struct CMUnitTest *tests, size_t count);

void unit_base_text(void);
void unit_base_words(void);
void unit_base_data(void);
void unit_event_channel(void);
void unit_event_finished(void);
void unit_event_layout(void);
void unit_event_packet(void);
void unit_engine_counts(void);
void unit_engine_order(void);
void unit_engine_path(void);
void unit_engine_memory(void);
void unit_engine_waits(void);
void unit_trace_classes(void);
void unit_report_trace(void);

#endif
