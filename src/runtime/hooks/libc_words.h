/* The words of libc.def: the states that functions hide, and the facts about functions. libc.def explains
 * each word. Only files that include libc.def include this header, because the words have no prefix. */
#ifndef MZ_RUNTIME_HOOKS_LIBC_WORDS_H
#define MZ_RUNTIME_HOOKS_LIBC_WORDS_H

enum { /* states */
       NOTHING = 0,
       ERRNO = 1 << 0,
       LOCALE = 1 << 1,
       STREAMS = 1 << 2,
       BUFFER = 1 << 3,
       ENVIRON = 1 << 4,
       RANDOM = 1 << 5,
       HEAP = 1 << 6,
       CLOCK = 1 << 7,
       FPENV = 1 << 8,
       KERNEL = 1 << 9,
       SIGNALS = 1 << 10,
       THREADS = 1 << 11,
       EXIT = 1 << 12,
       LOADER = 1 << 13,
       STACK = 1 << 14,
};

enum { /* facts */
       NONE = 0,
       PURE = 1 << 0,
       QUIET = 1 << 1,
       LOUD = 1 << 2,
       KEPT = 1 << 3,
       NAMES = 1 << 4,
       TRIES = 1 << 5,
       RWTRIES = 1 << 6,
       SPINS = 1 << 7,
       TRYJOINS = 1 << 8,
       CANCELS = 1 << 9,
       SENDS = 1 << 10,
       KILLS = 1 << 11,
       DESTROYS = 1 << 12,
       UNWINDS = 1 << 13,
       HOOKS = 1 << 14,
       RAW = 1 << 15,
       NONSHARED = 1 << 16,
       COUNTS = 1 << 18,
       LIBC_WORKS = 1 << 17, /* WRAP and POINT rows: our function calls libc's */
       NOT_IN_GLIBC = 0,
};

#define SINCE(version) 0

#endif
