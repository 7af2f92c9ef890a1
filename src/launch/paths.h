/* Where our own files are, found from where the command itself is:
 *   in a checkout:  DIR/mazurka, DIR/build/libmazurka.so, DIR/include, DIR/bench
 *   installed:      P/bin/mazurka, P/lib/mazurka/libmazurka.so, P/include
 *   elsewhere:      where the Makefile's LIBDIR and INCLUDEDIR said, if these are not P/lib and P/include
 * And where the user's things are: the cache. */
#ifndef MZ_LAUNCH_PATHS_H
#define MZ_LAUNCH_PATHS_H

struct mz_paths {            /* whole process; strings are never freed */
    const char *library_dir; /* holds libmazurka.so */
    const char *library;     /* its path */
    const char *include_dir; /* holds mazurka.h */
    const char *bench;       /* main.py of `mazurka bench`; NULL if it is not there */
};

/* Returns 0, or says what is missing and returns MZ_STATUS_FAILED. */
int mz_paths_find(struct mz_paths *paths);

/* The cache directory, made if needed; NULL if there is none that can be written. */
const char *mz_paths_cache(void);

#endif
