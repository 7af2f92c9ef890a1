/* mazurka.h: what a program under test may say to the checker. Without mazurka all of it is harmless. */
#ifndef MAZURKA_H
#define MAZURKA_H

#include <assert.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Defined (weakly) so that a program linked without the runtime still works. */
unsigned mazurka_choose(unsigned n, const char *file, int line) __attribute__((weak));
void mazurka_assume(int holds, const char *file, int line) __attribute__((weak));
void mazurka_atomic_begin(void) __attribute__((weak));
void mazurka_atomic_end(void) __attribute__((weak));
void mazurka_name(const volatile void *object, const char *name) __attribute__((weak));
void mazurka_assert_failed(const char *expression, const char *file, int line, const char *function)
    __attribute__((weak));

/* An assertion that stays on even with NDEBUG. */
#define mz_assert(e)                                                                                         \
    ((e) ? (void)0                                                                                           \
         : (mazurka_assert_failed ? mazurka_assert_failed(#e, __FILE__, __LINE__, __func__)                  \
                                  : (void)__builtin_trap()))

/* Executions where e does not hold are left out. */
#define mz_assume(e) (mazurka_assume ? mazurka_assume(!!(e), __FILE__, __LINE__) : (void)0)

/* Any of 0 .. n-1: all are explored. */
#define mz_choose(n) (mazurka_choose ? mazurka_choose((n), __FILE__, __LINE__) : 0u)

/* No other thread runs in between. */
#define mz_atomic_begin() (mazurka_atomic_begin ? mazurka_atomic_begin() : (void)0)
#define mz_atomic_end()   (mazurka_atomic_end ? mazurka_atomic_end() : (void)0)

/* The name of an object in reports. */
#define mz_name(object, text) (mazurka_name ? mazurka_name((object), (text)) : (void)0)

#ifdef __cplusplus
}
#endif

#endif
