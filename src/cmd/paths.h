/* Where our own files are, found from where the command itself is:
 *   in a checkout:  DIR/mazurka, DIR/build/libmazurka.so, DIR/include, DIR/bench
 *   installed:      P/bin/mazurka, P/lib/mazurka/libmazurka.so, P/include, P/share/mazurka/bench
 * And where the user's things are: the cache. */
#ifndef MZ_CMD_PATHS_H
#define MZ_CMD_PATHS_H

struct mz_paths {            /* whole process; strings are never freed */
    const char *library_dir; /* holds libmazurka.so */
    const char *library;     /* its path */
    const char *include_dir; /* holds mazurka.h */
    const char *bench;       /* run.sh; NULL if it is not there */
};

/* Returns 0, or says what is missing and returns MZ_STATUS_FAILED. */
int mz_paths_find(struct mz_paths *paths);

/* The cache directory, made if needed; NULL if there is none that can be written. */
const char *mz_paths_cache(void);

#endif
