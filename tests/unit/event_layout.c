/* Tests the translation of addresses from one layout to another (src/event/layout.h). The expected values are
 * computed by hand. */
#include "unit.h"

#include "event/layout.h"

/* The failed line shows what is checked. */
#define check(condition, what) assert_true((condition) && (what))

/* The program, a library, the heap. In the second layout all parts have other addresses and another order. */
static const struct mz_layout here = {
    .count = 4,
    .parts = {{.id = 10, .start = 0x400000, .size = 0x5000, .module = 1},
              {.id = 11, .start = 0x7f0000000000, .size = 0x20000, .module = 2},
              {.id = 1, .start = 0x7e0000000000, .size = 0x1000000},
              {.id = 7, .start = 0x7f1000000000, .size = 0x1000}}};
static const struct mz_layout there = {
    .count = 4,
    .parts = {{.id = 1, .start = 0x10000000, .size = 0x1000000},
              {.id = 11, .start = 0x2aaaaaaaa000, .size = 0x20000, .module = 2},
              {.id = 10, .start = 0x555555554000, .size = 0x5000, .module = 1},
              {.id = 7, .start = 0x20000000, .size = 0x2000}}}; /* larger */

static uint64_t moved(const struct mz_translation *t, uint64_t address, bool *known)
{
    *known = mz_translate(t, &address);
    return address;
}

static void addresses_are_translated(void **state)
{
    (void)state;
    struct mz_translation out, in, same;
    bool known;
    mz_translation_make(&out, &here, &there);
    mz_translation_make(&in, &there, &here);
    mz_translation_make(&same, &here, &here);
    check(moved(&out, 0x400000, &known) == 0x555555554000 && known, "first byte of the program");
    check(moved(&out, 0x404fff, &known) == 0x555555558fff && known, "last byte of the program");
    check(moved(&out, 0x405000, &known) == 0x405000 && !known, "the byte behind it is nobody's");
    check(moved(&out, 0x3fffff, &known) == 0x3fffff && !known, "nor is the byte before");
    check(moved(&out, 0x7e0000123456, &known) == 0x10123456 && known, "heap");
    check(moved(&out, 0x7f0000001234, &known) == 0x2aaaaaaab234 && known, "library");
    check((moved(&out, 0x7f1000000010, &known), !known), "a part of another size is not the same");
    check((moved(&out, 0, &known), !known), "no address");
    check((moved(&out, UINT64_MAX, &known), !known), "the last address");
    check(moved(&same, 0x1234, &known) == 0x1234 && known && same.count == 0, "the same layout: all stays");
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t a = here.parts[i].start + here.parts[i].size / 3, b = moved(&out, a, &known);
        check(known && moved(&in, b, &known) == a && known, "there and back");
        check(moved(&out, a + 15, &known) == b + 15, "bytes of an object stay together");
    }
}

static void modules_are_compared(void **state)
{
    (void)state;
    struct mz_layout other = there;
    check(mz_layout_misses(&here, &there) == here.count, "other parts than modules may be missing");
    other.parts[1].id = 12;
    check(mz_layout_misses(&here, &other) == 1, "another version of the library");
    other = there;
    other.count = 2;
    check(mz_layout_misses(&here, &other) == 0, "no program");
    check(mz_layout_misses(&other, &here) == other.count, "the other way round all are there");
}

/* One bug, found by two workers at different addresses, is one bug. */
static void findings_are_translated(void **state)
{
    (void)state;
    static struct mz_finding a, b;
    struct mz_translation in;
    mz_translation_make(&in, &there, &here);
    a.kind = b.kind = MZ_KIND_DATA_RACE;
    a.place.pc[0] = 0x401234, b.place.pc[0] = 0x555555555234;
    a.place.pc[1] = 0x405000, b.place.pc[1] = 0x555555559000; /* returns to behind the end of the code */
    a.other_pc = 0x401111, b.other_pc = 0x55555111;           /* low half */
    a.address = 0x7e0000000040, b.address = 0x10000040;
    a.hash = mz_finding_hash(&a);
    mz_translate_finding(&in, &b);
    check(b.address == a.address && b.place.pc[0] == a.place.pc[0] && b.place.pc[1] == a.place.pc[1],
          "addresses");
    check(b.other_pc == a.other_pc, "half an address");
    check(b.hash == a.hash, "hash of a race");
    a = b = (struct mz_finding){.kind = MZ_KIND_DEADLOCK};
    a.threads[1].state = b.threads[1].state = MZ_THREAD_LOCKING;
    a.threads[1].object = 0x400100, b.threads[1].object = 0x555555554100;
    a.hash = mz_finding_hash(&a);
    mz_translate_finding(&in, &b);
    check(b.hash == a.hash && b.threads[1].object == a.threads[1].object, "hash of a deadlock");
    b.address = 0xdeadbeef; /* of no part: stays */
    mz_translate_finding(&in, &b);
    check(b.address == 0xdeadbeef, "a wild address");
}

static void channels_are_translated(void **state)
{
    (void)state;
    static struct mz_channel c;
    struct mz_translation in;
    mz_translation_make(&in, &there, &here);
    c.module_count = 1;
    c.modules[0] = (struct mz_module){.bias = 0x555555554000, .start = 0x555555554000, .end = 0x555555559000};
    c.threads[1].start = 0x555555555000;
    c.end_place.pc[0] = 0x555555555001;
    c.name_count = c.warning_count = 1;
    c.names[0].address = 0x10000000;
    c.warnings[0].step[0].held = 0x10000008;
    c.warnings[0].step[0].pc = 0x555555555002;
    mz_translate_channel(&in, &c);
    check(c.modules[0].start == 0x400000 && c.modules[0].end == 0x405000 && c.modules[0].bias == 0x400000,
          "modules");
    check(c.threads[1].start == 0x401000 && c.end_place.pc[0] == 0x401001, "code");
    check(c.names[0].address == 0x7e0000000000, "names");
    check(c.warnings[0].step[0].held == 0x7e0000000008 && c.warnings[0].step[0].pc == 0x401002, "warnings");
}

void unit_event_layout(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_translated),
        cmocka_unit_test(modules_are_compared),
        cmocka_unit_test(findings_are_translated),
        cmocka_unit_test(channels_are_translated),
    };
    UNIT_GROUP("event: layout", tests);
}
