/* mazurka.h: macros with which a test can tell mazurka more. In a program that was built without mazurka,
 * they are harmless. */
#ifndef MAZURKA_H
#define MAZURKA_H

#include <assert.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Weak declarations, so that a program linked without the runtime still works. */
unsigned mazurka_choose(unsigned n, const char *file, int line) __attribute__((weak));
void mazurka_assume(int holds, const char *file, int line) __attribute__((weak));
void mazurka_atomic_begin(void) __attribute__((weak));
void mazurka_atomic_end(void) __attribute__((weak));
void mazurka_name(const volatile void *object, const char *name) __attribute__((weak));
void mazurka_assert_failed(const char *expression, const char *file, int line, const char *function)
    __attribute__((weak));

/* An assertion that is checked even with NDEBUG. Without mazurka, a failure stops the program. */
#define mz_assert(e)                                                                                         \
    ((e) ? (void)0                                                                                           \
         : (mazurka_assert_failed ? mazurka_assert_failed(#e, __FILE__, __LINE__, __func__)                  \
                                  : (void)__builtin_trap()))

/* Skip executions in which e is false. */
#define mz_assume(e) (mazurka_assume ? mazurka_assume(!!(e), __FILE__, __LINE__) : (void)0)

/* Returns a number from 0 to n-1. mazurka explores all of them; without mazurka it is 0. */
#define mz_choose(n) (mazurka_choose ? mazurka_choose((n), __FILE__, __LINE__) : 0u)

/* No other thread runs between begin and end. */
#define mz_atomic_begin() (mazurka_atomic_begin ? mazurka_atomic_begin() : (void)0)
#define mz_atomic_end()   (mazurka_atomic_end ? mazurka_atomic_end() : (void)0)

/* Reports show the object under this name. */
#define mz_name(object, text) (mazurka_name ? mazurka_name((object), (text)) : (void)0)

#ifdef __cplusplus
}
#endif

#endif
