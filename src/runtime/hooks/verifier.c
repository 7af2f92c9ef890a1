/* The functions that programs of the SV-COMP competition call.
 *
 * A nondeterministic number is a choice from a range that the user must give (--nondet-range). mazurka cannot
 * try all numbers of a type, and a silent choice of some numbers would be no proof. The range is cut to the
 * numbers of the type (for unsigned 64-bit types, to the numbers below 2^63). If the range lacks numbers of
 * the type, the report says so. A program may define any of these functions itself; then the program's
 * function is used. */
#include "runtime/core/runtime.h"
#include "runtime/hooks/hooks.h"
#include "runtime/hooks/room.h"

#include <limits.h>

unsigned mazurka_choose(unsigned n, const char *file, int line);
void mazurka_assume(int holds, const char *file, int line);
void mazurka_atomic_begin(void);
void mazurka_atomic_end(void);

static char *add_number(char *t, char *end, int64_t n)
{
    if (n < 0) t = mz_text_add(t, end, "-");
    return mz_text_number(t, end, n < 0 ? -(uint64_t)n : (uint64_t)n, 10);
}

/* The verdict holds only for the numbers of the range: the report must say so. */
static void note_range(const struct mz_options_block *o)
{
    char text[MZ_TEXT], *end = text + sizeof text;
    if (mz_hooks_room.verifier.range_noted) return;
    mz_hooks_room.verifier.range_noted = true;
    char *t = mz_text_add(text, end, "numbers of __VERIFIER_nondet_ outside of --nondet-range=");
    t = add_number(t, end, o->nondet_low);
    t = mz_text_add(t, end, "..");
    add_number(t, end, o->nondet_high);
    mz_note(text);
}

static int64_t nondet(const char *call, int64_t low, int64_t high, const void *pc, const void *frame)
{
    const struct mz_options_block *o = &rt.channel->options;
    if (!rt.active) return low > 0 ? low : 0;
    if (!o->nondet_given) mz_unsupported(call, "say which values to try: --nondet-range=LO..HI");
    if (o->nondet_low > low || o->nondet_high < high) note_range(o);
    if (o->nondet_low > low) low = o->nondet_low;
    if (o->nondet_high < high) high = o->nondet_high;
    if (low > high) mz_unsupported(call, "--nondet-range=LO..HI has no number of its type");
    uint64_t distance = (uint64_t)high - (uint64_t)low;
    if (distance == UINT64_MAX)
        mz_unsupported(call, "it cannot try all 64-bit numbers: give a smaller --nondet-range=LO..HI");
    return (int64_t)((uint64_t)low + mz_choose_of(distance + 1, pc, frame));
}

#define NONDET(type, name, low, high)                                                                        \
    MZ_EXPORT type __VERIFIER_nondet_##name(void);                                                           \
    type __VERIFIER_nondet_##name(void)                                                                      \
    {                                                                                                        \
        return (type)nondet("__VERIFIER_nondet_" #name, low, high, MZ_PC(), MZ_FRAME());                     \
    }

NONDET(signed char, char, CHAR_MIN, CHAR_MAX)
NONDET(signed char, schar, SCHAR_MIN, SCHAR_MAX)
NONDET(unsigned char, uchar, 0, UCHAR_MAX)
NONDET(short, short, SHRT_MIN, SHRT_MAX)
NONDET(unsigned short, ushort, 0, USHRT_MAX)
NONDET(int, int, INT_MIN, INT_MAX)
NONDET(unsigned, uint, 0, UINT_MAX)
NONDET(unsigned, unsigned, 0, UINT_MAX)
NONDET(unsigned, unsigned_int, 0, UINT_MAX)
NONDET(long, long, LONG_MIN, LONG_MAX)
NONDET(unsigned long, ulong, 0, LONG_MAX)
NONDET(long long, longlong, LONG_MIN, LONG_MAX)
NONDET(unsigned long long, ulonglong, 0, LONG_MAX)
NONDET(size_t, size_t, 0, LONG_MAX)
NONDET(uint8_t, u8, 0, UCHAR_MAX)
NONDET(uint16_t, u16, 0, USHRT_MAX)
NONDET(uint32_t, u32, 0, UINT_MAX)

MZ_EXPORT _Bool __VERIFIER_nondet_bool(void);
_Bool __VERIFIER_nondet_bool(void) { return rt.active && mz_choose_of(2, MZ_PC(), MZ_FRAME()); }

#define NO_NUMBER(type, name)                                                                                \
    MZ_EXPORT type __VERIFIER_nondet_##name(void);                                                           \
    type __VERIFIER_nondet_##name(void)                                                                      \
    {                                                                                                        \
        mz_unsupported("__VERIFIER_nondet_" #name, "choose among values of your own with mz_choose");        \
    }
NO_NUMBER(float, float)
NO_NUMBER(double, double)
NO_NUMBER(void *, pointer)

MZ_EXPORT void __VERIFIER_assume(int holds);
void __VERIFIER_assume(int holds) { mazurka_assume(holds, NULL, 0); }

MZ_EXPORT void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_begin(void) { mazurka_atomic_begin(); }

MZ_EXPORT void __VERIFIER_atomic_end(void);
void __VERIFIER_atomic_end(void) { mazurka_atomic_end(); }

static _Noreturn void failed(const char *what)
{
    if (rt.active) mz_finding_assert(what, NULL, 0, NULL);
    mz_failed_before_main(what, NULL, 0);
}

MZ_EXPORT void __VERIFIER_assert(int holds);
void __VERIFIER_assert(int holds)
{
    if (!holds) failed("__VERIFIER_assert");
}

MZ_EXPORT _Noreturn void __VERIFIER_error(void);
_Noreturn void __VERIFIER_error(void) { failed("__VERIFIER_error was reached"); }

MZ_EXPORT _Noreturn void reach_error(void);
_Noreturn void reach_error(void) { failed("reach_error was reached"); }
