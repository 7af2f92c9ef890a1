/* What a build depends on: every file that it looked for, as it was at that moment.
 *
 * An input is unchanged if the file of that name is the same one (device, inode, size, times), or, for files outside of
 * the system's directories, has the same content; if it was not there, it must not be there now (it may come
 * earlier in a search path). Of directories only the existence counts, unless the build read their entries.
 * What the build itself writes is no input. */
#ifndef MZ_CMD_INPUTS_H
#define MZ_CMD_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../report/sha256.h"
#include "../report/strbuf.h"

enum mz_input_use { MZ_INPUT_LOOK, MZ_INPUT_READ, MZ_INPUT_EXECUTE, MZ_INPUT_LIST, MZ_INPUT_WRITE };

enum mz_input_kind { MZ_INPUT_ABSENT, MZ_INPUT_FILE, MZ_INPUT_DIRECTORY, MZ_INPUT_OTHER };

struct mz_input {
    char *path; /* absolute */
    enum mz_input_kind kind;
    bool listed, written, executed, read;
    uint64_t device, inode, size;
    int64_t modified, changed; /* nanoseconds; 0: too new to be told by */
    char hash[65];             /* empty: not known */
};

struct mz_inputs {
    struct mz_input *items;
    size_t count, capacity;
    uint32_t *table; /* number of an item plus one, by the hash of its path */
    size_t table_size;
    bool complete;    /* nothing is missing */
    const char *skip; /* a directory that does not count */
    bool ended;       /* follow.c: the process has ended, with this status, and has not been waited for */
    int status;
};

void mz_inputs_begin(struct mz_inputs *inputs, const char *skip);
void mz_inputs_release(struct mz_inputs *inputs);

/* The build is about to do that. */
void mz_inputs_note(struct mz_inputs *inputs, const char *path, enum mz_input_use use);
/* The file does not count, whatever happens to it. */
void mz_inputs_forget(struct mz_inputs *inputs, const char *path);

/* Adds what counts beside the sources: the content of all files outside of the system's directories that were read, but
 * for those that is_known() says are covered. */
void mz_inputs_identify(struct mz_inputs *inputs, struct mz_sha256 *to,
                        bool (*is_known)(const void *, uint64_t device, uint64_t inode), const void *data);

/* As text, a line for each. */
void mz_inputs_put(struct mz_inputs *inputs, struct mz_strbuf *to);
/* Is all of that text unchanged? False also if it makes no sense. */
bool mz_inputs_unchanged(char *text);

#endif
