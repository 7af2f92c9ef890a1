/* MZ_BUG: a state that only an error in mazurka can cause. It stays on in release builds. Each program that links
 * the engine defines mz_bug(): the runtime reports the schedule that led to the bug, a test program prints a line
 * and aborts. */
#ifndef MZ_BASE_BUG_H
#define MZ_BASE_BUG_H

_Noreturn void mz_bug(const char *file, int line, const char *what);

#define MZ_BUG(what)    mz_bug(__FILE__, __LINE__, what)
#define MZ_ASSERT(cond) ((cond) ? (void)0 : MZ_BUG(#cond))
#define mz_likely(c)    __builtin_expect(!!(c), 1)
#define mz_unlikely(c)  __builtin_expect(!!(c), 0)

#endif
