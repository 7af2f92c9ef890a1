/* What a build depends on: every file that it looked for, in its state at that moment.
 *
 * An input is unchanged if the file with that name is the same (device, inode, size, times), or, outside of the
 * system's directories, has the same content. A file that did not exist must not exist now: it could come earlier in
 * a search path. Of a directory only its existence counts, unless the build read its entries. A file that the build
 * writes is not an input. */
#ifndef MZ_LAUNCH_INPUTS_H
#define MZ_LAUNCH_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/sha256.h"
#include "base/strbuf.h"
#include "base/table.h"

enum mz_input_use { MZ_INPUT_LOOK, MZ_INPUT_READ, MZ_INPUT_EXECUTE, MZ_INPUT_LIST, MZ_INPUT_WRITE };

enum mz_input_kind { MZ_INPUT_ABSENT, MZ_INPUT_FILE, MZ_INPUT_DIRECTORY, MZ_INPUT_OTHER };

struct mz_input {
    char *path; /* absolute */
    enum mz_input_kind kind;
    bool listed, written, executed, read;
    uint64_t device, inode, size;
    int64_t modified, changed; /* nanoseconds; 0: the file is too new for its time to prove anything */
    char hash[65];             /* empty: not known */
};

struct mz_inputs {
    struct mz_input *items;
    size_t count, capacity;
    struct mz_table table; /* number of an item plus one, by the hash of its path */
    bool complete;         /* nothing is missing */
    const char *skip;      /* a directory whose files do not count */
    bool ended; /* follow.c: the process has ended with `status`, but the caller has not waited for it yet */
    int status;
};

void mz_inputs_begin(struct mz_inputs *inputs, const char *skip);
void mz_inputs_release(struct mz_inputs *inputs);

/* Note that the build uses the path in this way. */
void mz_inputs_note(struct mz_inputs *inputs, const char *path, enum mz_input_use use);
/* Leave the file out of the list. */
void mz_inputs_forget(struct mz_inputs *inputs, const char *path);

/* Hash the inputs besides the sources: the content of all files that were read outside of the system's directories,
 * except those for which is_known() returns true. */
void mz_inputs_identify(struct mz_inputs *inputs, struct mz_sha256 *to,
                        bool (*is_known)(const void *, uint64_t device, uint64_t inode), const void *data);

/* Write the list as text, one line for each input. */
void mz_inputs_put(struct mz_inputs *inputs, struct mz_strbuf *to);
/* Are all inputs of that text unchanged? False also for a damaged text. */
bool mz_inputs_unchanged(char *text);

#endif
