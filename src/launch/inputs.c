/* What a build depends on: see inputs.h. */
#define _GNU_SOURCE
#include "launch/inputs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include "base/memory.h"

#define END         "end"
#define FIRST_TABLE 1024u
#define YOUNG       50000000 /* nanoseconds: a younger file may change again without a new time */

static bool is_below(const char *path, const char *directory)
{
    size_t n = strlen(directory);
    return !strncmp(path, directory, n) && (path[n] == '/' || path[n] == '\0');
}

/* Not regular files, or without lasting content. */
static bool is_special(const char *path)
{
    return is_below(path, "/proc") || is_below(path, "/dev") || is_below(path, "/sys");
}

/* Files of packages: their times tell whether they have changed. */
static bool is_system(const char *path)
{
    static const char *const directories[] = {"/usr",    "/lib", "/lib32", "/lib64",
                                              "/libx32", "/bin", "/sbin",  "/etc"};
    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
        if (is_below(path, directories[i]) && !is_below(path, "/usr/local")) return true;
    return false;
}

void mz_inputs_begin(struct mz_inputs *inputs, const char *skip)
{
    *inputs = (struct mz_inputs){.complete = true, .skip = skip, .table.mask = FIRST_TABLE - 1};
    inputs->table.slots = mz_memory_new(FIRST_TABLE * sizeof *inputs->table.slots);
}

void mz_inputs_release(struct mz_inputs *inputs)
{
    for (size_t i = 0; i < inputs->count; i++) free(inputs->items[i].path);
    free(inputs->items);
    free(inputs->table.slots);
    *inputs = (struct mz_inputs){0};
}

/* ---- the table ---- */

static uint32_t hash_of_path(const char *path)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (const char *p = path; *p; p++) hash = (hash ^ (unsigned char)*p) * 1099511628211u;
    return (uint32_t)hash;
}

static inline uint32_t hash_of_item(const void *items, uint32_t number)
{
    return hash_of_path(((const struct mz_input *)items)[number - 1].path);
}

static inline bool has_path(const void *items, uint32_t number, const void *path)
{
    return strcmp(((const struct mz_input *)items)[number - 1].path, path) == 0;
}

static uint32_t *place_of(const struct mz_inputs *inputs, const char *path)
{
    return mz_table_find(&inputs->table, hash_of_path(path), has_path, inputs->items, path);
}

static void grow_table(struct mz_inputs *inputs)
{
    size_t size = 2 * ((size_t)inputs->table.mask + 1);
    inputs->table.slots = mz_memory_resize(inputs->table.slots, size * sizeof *inputs->table.slots);
    mz_table_grow(&inputs->table, hash_of_item, inputs->items);
}

static int64_t nanoseconds(const struct timespec *t) { return t->tv_sec * 1000000000ll + t->tv_nsec; }

static void look(struct mz_input *in)
{
    struct stat s;
    if (stat(in->path, &s) < 0) {
        in->kind = MZ_INPUT_ABSENT;
        return;
    }
    in->kind = S_ISREG(s.st_mode) ? MZ_INPUT_FILE : S_ISDIR(s.st_mode) ? MZ_INPUT_DIRECTORY : MZ_INPUT_OTHER;
    in->device = s.st_dev;
    in->inode = s.st_ino;
    in->size = (uint64_t)s.st_size;
    in->modified = nanoseconds(&s.st_mtim);
    in->changed = nanoseconds(&s.st_ctim);
}

static struct mz_input *input_of(struct mz_inputs *inputs, const char *path)
{
    uint32_t *place = place_of(inputs, path);
    if (*place) return &inputs->items[*place - 1];
    if (mz_table_is_half_full(&inputs->table)) {
        grow_table(inputs);
        place = place_of(inputs, path);
    }
    MZ_GROW(inputs->items, inputs->count, inputs->capacity);
    struct mz_input *in = &inputs->items[inputs->count++];
    mz_table_fill(&inputs->table, place, (uint32_t)inputs->count);
    *in = (struct mz_input){.path = mz_memory_string(path)};
    look(in);
    return in;
}

/* The next write may leave the same time: then the time proves nothing. */
static void distrust_new_times(struct mz_input *in)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (in->modified > nanoseconds(&now) - YOUNG || in->changed > nanoseconds(&now) - YOUNG) in->changed = 0;
}

static void hash_content(struct mz_input *in)
{
    struct mz_sha256 hash;
    mz_sha256_init(&hash);
    if (mz_sha256_file(&hash, in->path) == 0) mz_sha256_hex(&hash, in->hash);
}

void mz_inputs_note(struct mz_inputs *inputs, const char *path, enum mz_input_use use)
{
    if (is_special(path) || strchr(path, '\n') || (inputs->skip && is_below(path, inputs->skip))) return;
    struct mz_input *in = input_of(inputs, path);
    in->written |= use == MZ_INPUT_WRITE;
    in->listed |= use == MZ_INPUT_LIST;
    in->executed |= use == MZ_INPUT_EXECUTE;
    if (use != MZ_INPUT_READ && use != MZ_INPUT_EXECUTE) return;
    if (in->read || in->written || in->kind != MZ_INPUT_FILE) return;
    in->read = true;
    look(in);
    distrust_new_times(in);
    if (!is_system(path)) hash_content(in);
}

void mz_inputs_forget(struct mz_inputs *inputs, const char *path) { input_of(inputs, path)->written = true; }

/* ---- identity ---- */

static bool is_script(const char *path)
{
    char start[2] = {0};
    FILE *f = fopen(path, "re");
    bool script = f && fread(start, 1, 2, f) == 2 && start[0] == '#' && start[1] == '!';
    if (f) fclose(f);
    return script;
}

void mz_inputs_identify(struct mz_inputs *inputs, struct mz_sha256 *to,
                        bool (*is_known)(const void *, uint64_t device, uint64_t inode), const void *data)
{
    for (size_t i = 0; i < inputs->count; i++) {
        struct mz_input *in = &inputs->items[i];
        if (in->written || !in->hash[0] || is_known(data, in->device, in->inode)) continue;
        if (in->executed && !is_script(in->path)) continue; /* a compiler need not be the same */
        mz_sha256_text(to, in->hash);
    }
}

/* ---- as text ---- */

/* KIND DEVICE INODE SIZE MODIFIED CHANGED HASH PATH; KIND is a letter, HASH may be "-". */
void mz_inputs_put(struct mz_inputs *inputs, struct mz_strbuf *to)
{
    for (size_t i = 0; i < inputs->count; i++) {
        const struct mz_input *in = &inputs->items[i];
        if (in->written) continue;
        char kind = "afdo"[in->kind];
        if (in->kind == MZ_INPUT_DIRECTORY && in->listed) kind = 'l';
        mz_strbuf_addf(to, "%c %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64 " %s %s\n", kind,
                       in->device, in->inode, in->size, in->modified, in->changed,
                       in->hash[0] ? in->hash : "-", in->path);
    }
    mz_strbuf_add(to, END "\n");
}

/* Device numbers may change when the system starts again. */
static bool is_same_file(const struct mz_input *then, const struct mz_input *now)
{
    return then->inode == now->inode && then->size == now->size && then->modified == now->modified &&
           then->changed == now->changed;
}

static bool is_unchanged(const struct mz_input *then, char kind)
{
    struct mz_input now = {.path = then->path};
    look(&now);
    switch (kind) {
    case 'a':
        return now.kind == MZ_INPUT_ABSENT;
    case 'd':
        return now.kind == MZ_INPUT_DIRECTORY;
    case 'o':
        return now.kind == MZ_INPUT_OTHER;
    case 'l':
        return now.kind == MZ_INPUT_DIRECTORY && then->modified == now.modified && then->inode == now.inode;
    case 'f':
        if (now.kind != MZ_INPUT_FILE) return false;
        if (is_same_file(then, &now)) return true;
        if (then->size != now.size || then->hash[0] == '-') return false;
        hash_content(&now);
        return !strcmp(then->hash, now.hash);
    default:
        return false;
    }
}

bool mz_inputs_unchanged(char *text)
{
    char *line;
    while ((line = strsep(&text, "\n"))) {
        if (!strcmp(line, END)) return true;
        struct mz_input then = {0};
        char kind;
        int path = 0;
        int n =
            sscanf(line, "%c %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNd64 " %" SCNd64 " %64s %n", &kind,
                   &then.device, &then.inode, &then.size, &then.modified, &then.changed, then.hash, &path);
        then.path = line + path;
        if (n != 7 || !path || !is_unchanged(&then, kind)) return false;
    }
    return false; /* cut short */
}
