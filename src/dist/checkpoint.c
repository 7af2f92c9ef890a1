/* A checkpoint is a file with the rest of a search, and with what the search has found and counted so far.
 *
 *   mazurka checkpoint 6\n version\n open\n, complete\n or ended\n   then the fingerprint (fingerprint.h), compared as text
 *   the reference layout, slots of threads, counters, findings with their schedules, what was not seen, warnings,
 *   the balancer's tree
 *   SHA-256 of everything before, in hex
 *
 * A new checkpoint is written beside the old one and renamed, so there is a complete one whenever we are killed. No
 * other file is overwritten, and no checkpoint of another, unfinished search. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "base/region.h"
#include "base/files.h"
#include "base/memory.h"
#include "base/message.h"
#include "base/sha256.h"
#include "base/strbuf.h"
#include "dist/pool_internal.h"
#include "launch/untrusted.h"

#define ANY_FORM "mazurka checkpoint "
#define MAGIC    ANY_FORM "6\n"
#define COMPLETE "complete\n"
#define ENDED    "ended\n" /* by an error */
#define NEW      ".new"    /* while it is written */
#define OLD      ".old"    /* put aside */
#define HEX      64

/* The file contains structures of the channel. */
static void put_version(struct mz_strbuf *b) { mz_strbuf_addf(b, "%s.%u", MZ_VERSION, MZ_CHANNEL_VERSION); }

static void put_head(const struct mz_pool *p, struct mz_strbuf *b)
{
    mz_strbuf_add(b, MAGIC);
    put_version(b);
    bool ended = p->found.count > 0 && !p->target->options.keep_going;
    mz_strbuf_addf(b, "\n%s", mz_balance_complete(p->balance) ? COMPLETE : ended ? ENDED : "open\n");
    mz_fingerprint_put(p->options->fingerprint, b);
}

static void sum_of(const void *data, size_t size, char hex[HEX + 1])
{
    struct mz_sha256 s;
    mz_sha256_init(&s);
    mz_sha256_add(&s, data, size);
    mz_sha256_hex(&s, hex);
}

/* ---- writing ---- */

static void put_findings(struct mz_pool *p, struct mz_message *m)
{
    mz_put(m, p->found.count);
    for (uint32_t i = 0; i < p->found.count; i++) {
        mz_put_bytes(m, &p->found.items[i].finding, sizeof p->found.items[i].finding);
        mz_put_bytes(m, p->found.items[i].steps, p->found.items[i].finding.steps * sizeof(struct mz_step));
    }
}

static void put_text(struct mz_message *m, const char *text)
{
    mz_put(m, (uint32_t)strlen(text));
    mz_put_bytes(m, text, strlen(text));
}

/* Text about earlier searches; lists from the channels of workers. */
static void put_unseen(struct mz_pool *p, struct mz_message *m)
{
    struct mz_channel *c = mz_pool_unseen(p);
    const struct mz_list *lines = p->options->unseen;
    uint32_t count = lines ? (uint32_t)lines->count : 0, texts = 0;
    mz_put(m, count);
    for (uint32_t i = 0; i < count; i++) put_text(m, lines->items[i]);
    while (texts < MZ_MAX_UNSEEN && c->unseen[texts][0]) texts++;
    mz_put(m, texts);
    for (uint32_t i = 0; i < texts; i++) put_text(m, c->unseen[i]);
    mz_put(m, c->unseen_write_count);
    mz_put_bytes(m, c->unseen_writes, c->unseen_write_count * sizeof *c->unseen_writes);
    mz_put(m, c->warning_count);
    mz_put_bytes(m, c->warnings, c->warning_count * sizeof *c->warnings);
    mz_put(m, c->reorder_count);
    mz_put_bytes(m, c->reorders, c->reorder_count * sizeof *c->reorders);
    free(c);
}

static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? mz_memory_stringn(path, (size_t)(slash - path + 1)) : mz_memory_string(".");
}

/* The name must survive a loss of power, too. Not every file system supports that. */
static void keep_name(const char *path)
{
    char *dir = directory_of(path);
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    free(dir);
}

static int write_file(const char *name, const struct mz_strbuf *head, const struct mz_message *m,
                      const char *sum)
{
    char *path = mz_files_follow(name);
    if (!path) return -1;
    char *other = mz_format("%s" NEW, path);
    unlink(other); /* left by a run that was killed; see look_at() */
    int fd = mz_files_create(other);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    bool good = f != NULL;
    good = good && fwrite(head->data, 1, head->length, f) == head->length;
    good = good && fwrite(m->data, 1, m->count, f) == m->count && fputs(sum, f) >= 0;
    good = good && fflush(f) == 0 && fsync(fd) == 0;
    int error = errno;
    if (f && fclose(f) != 0) good = false;
    if (good && rename(other, path) < 0) good = false, error = errno;
    if (good) keep_name(path);
    if (!good && fd >= 0) unlink(other);
    free(other);
    free(path);
    errno = error;
    return good ? 0 : -1;
}

/* ---- what is there already ---- */

enum there { NOTHING, UNFINISHED, FINISHED, OTHER };

/* Only for a regular file. */
static enum there what_is_there(const char *path, const char **wrong)
{
    char head[512];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) return NOTHING;
    ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof head - 1);
    if (n < 0) *wrong = strerror(errno);
    if (fd >= 0) close(fd);
    head[n > 0 ? n : 0] = '\0';
    if (n <= 0) return NOTHING;
    if (strncmp(head, ANY_FORM, strlen(ANY_FORM)) != 0) return OTHER;
    const char *line = strchr(head, '\n');
    line = line ? strchr(line + 1, '\n') : NULL;
    if (!line) return UNFINISHED;
    line++;
    return !strncmp(line, COMPLETE, strlen(COMPLETE)) || !strncmp(line, ENDED, strlen(ENDED)) ? FINISHED
                                                                                              : UNFINISHED;
}

static int cannot_write(const char *name, const char *why)
{
    return mz_fail("cannot write the checkpoint %s: %s", name, why);
}

/* No other file may have one of the names that the checkpoint uses. */
static int look_at(const char *path)
{
    static const char *const endings[] = {"", NEW};
    const char *wrong = NULL;
    int status = 0;
    for (size_t i = 0; i < sizeof endings / sizeof *endings && status == 0; i++) {
        char *name = mz_format("%s%s", path, endings[i]);
        if (mz_files_special(name))
            wrong = "it is not a regular file";
        else if (what_is_there(name, &wrong) == OTHER)
            wrong = "there is a file of that name, and it is not a checkpoint";
        if (wrong) status = cannot_write(name, wrong);
        free(name);
    }
    return status;
}

/* Only one search on this host may use the checkpoint: two would overwrite each other's. The lock is the address of
 * a socket, which only one process can have, and which vanishes however we end. Where there are no such sockets,
 * there is no lock. */
static int claim(const char *name, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char *dir = directory_of(path), sum[HEX + 1];
    struct stat s = {0};
    int status = 0, fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (stat(dir, &s) == 0 && fd >= 0) {
        char *place = mz_format("%ju %ju %s", (uintmax_t)s.st_dev, (uintmax_t)s.st_ino, mz_files_base(path));
        sum_of(place, strlen(place), sum);
        int n = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "mazurka-checkpoint-%s", sum);
        socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
        if (bind(fd, (struct sockaddr *)&address, size) < 0 && errno == EADDRINUSE)
            status = cannot_write(name, "another search is using it now");
        free(place);
    }
    free(dir);
    return status; /* the socket stays open */
}

/* Fail now, not after the first interval. */
int mz_checkpoint_try(const char *name)
{
    char *path = mz_files_follow(name);
    if (!path) return cannot_write(name, mz_reason(errno));
    char *other = mz_format("%s" NEW, path);
    int status = look_at(path);
    if (status == 0) status = claim(name, path);
    if (status == 0) unlink(other);
    int fd = status == 0 ? mz_files_create(other) : -1;
    if (status == 0 && fd < 0) status = cannot_write(name, strerror(errno));
    if (fd >= 0) {
        close(fd);
        unlink(other);
    }
    free(other);
    free(path);
    return status;
}

/* Choose FILE.old, or FILE.old.2, and so on: files that were put aside earlier stay. */
static char *free_name(const char *path)
{
    char *name = mz_format("%s" OLD, path);
    for (unsigned n = 2; access(name, F_OK) == 0; n++) {
        free(name);
        name = mz_format("%s" OLD ".%u", path, n);
    }
    return name;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat x, y;
    return b && stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

int mz_checkpoint_put_aside(const struct mz_pool_options *options)
{
    const char *wrong = NULL;
    char *path = mz_files_follow(options->checkpoint);
    if (!path) return cannot_write(options->checkpoint, mz_reason(errno));
    char *old = free_name(path);
    if (what_is_there(path, &wrong) == UNFINISHED && !is_same_file(path, options->resume)) {
        if (rename(path, old) < 0)
            wrong = strerror(errno);
        else
            mz_notice("%s was of a search that is not finished, and is kept as %s (see --resume)", path, old);
    }
    free(old);
    free(path);
    return wrong ? cannot_write(options->checkpoint, wrong) : 0;
}

/* ---- the whole file ---- */

void mz_checkpoint_write(struct mz_pool *p)
{
    struct mz_strbuf head = {0};
    struct mz_message *m = &p->message;
    struct mz_counters counters = mz_pool_counters(p);
    char sum[HEX + 1];
    counters.restarts = p->before.restarts + mz_balance_counts(p->balance).restarts;
    mz_pool_collect(p);
    put_head(p, &head);
    mz_message_clear(m);
    mz_put_bytes(m, &p->layout, sizeof p->layout);
    for (int i = 0; i < MZ_MAX_THREADS; i++) mz_put(m, p->common->slots[i]);
    mz_put_bytes(m, &counters, sizeof counters);
    put_findings(p, m);
    put_unseen(p, m);
    mz_balance_save(p->balance, m);
    if (p->finished) mz_finished_save(p->finished, m);
    struct mz_sha256 s;
    mz_sha256_init(&s);
    mz_sha256_add(&s, head.data, head.length);
    mz_sha256_add(&s, m->data, m->count);
    mz_sha256_hex(&s, sum);
    bool failed = write_file(p->options->checkpoint, &head, m, sum) < 0;
    if (failed && !p->cannot_write) /* printed once */
        mz_notice("cannot write the checkpoint %s: %s", p->options->checkpoint, strerror(errno));
    p->cannot_write = failed;
    mz_region_empty(m->data, m->count); /* it may be large */
    mz_strbuf_release(&head);
}

/* ---- reading ---- */

/* The next line of the head; is it this one? */
static bool is_line(const char **at, const char *end, const char *text)
{
    const char *line = *at, *newline = memchr(line, '\n', (size_t)(end - line));
    if (!newline) return false;
    *at = newline + 1;
    return strlen(text) == (size_t)(newline - line) && !memcmp(line, text, strlen(text));
}

/* Return NULL, or what is wrong, which the caller frees. */
static char *what_is_wrong(const struct mz_pool *p, const struct mz_strbuf *b, const char **at,
                           const char *end)
{
    const char *start = mz_strbuf_text(b);
    char real[HEX + 1];
    if (strncmp(start, ANY_FORM, strlen(ANY_FORM)) != 0) return mz_memory_string("it is not a checkpoint");
    if (strncmp(start, MAGIC, strlen(MAGIC)) != 0)
        return mz_memory_string("it is a checkpoint of another version of mazurka");
    if (b->length < strlen(MAGIC) + HEX) return mz_memory_string("it is damaged");
    *at = start + strlen(MAGIC);
    sum_of(start, (size_t)(end - start), real);
    if (memcmp(real, end, HEX) != 0) return mz_memory_string("it is damaged");
    struct mz_strbuf version = {0};
    put_version(&version);
    bool same = is_line(at, end, mz_strbuf_text(&version));
    mz_strbuf_release(&version);
    if (!same) return mz_memory_string("it was written by another version of mazurka");
    const char *newline =
        memchr(*at, '\n', (size_t)(end - *at)); /* open or complete: the tree shows it, too */
    *at = newline ? newline + 1 : end;
    return mz_fingerprint_differs(p->options->fingerprint, at, end);
}

static void get_findings(struct mz_pool *p, struct mz_message *m)
{
    for (uint32_t n = mz_get_count(m, sizeof(struct mz_finding)); n > 0 && !m->bad; n--) {
        struct mz_finding *f = mz_memory_new(sizeof *f);
        mz_get_bytes(m, f, sizeof *f);
        if (f->steps > (m->count - m->at) / sizeof(struct mz_step)) m->bad = true;
        const struct mz_step *steps = (const struct mz_step *)(const void *)(m->data + m->at);
        if (!m->bad && (!mz_finding_tidy(f, 0) || !mz_steps_sound(steps, f->steps))) m->bad = true;
        if (m->bad) {
            free(f);
            return;
        }
        mz_pool_found(p, f, steps);
        m->at += f->steps * sizeof(struct mz_step);
        free(f);
    }
}

/* A new string. */
static char *get_text(struct mz_message *m)
{
    uint32_t size = mz_get_count(m, 1);
    char *text = mz_memory_stringn((const char *)m->data + m->at, size);
    m->at += size;
    return text;
}

static uint32_t get_entries(struct mz_message *m, void *to, uint32_t most, size_t each)
{
    uint32_t count = mz_get(m);
    if (count > most) m->bad = true;
    if (!m->bad) mz_get_bytes(m, to, count * each);
    return m->bad ? 0 : count;
}

static void get_unseen(struct mz_pool *p, struct mz_message *m)
{
    struct mz_channel *c = p->kept = mz_memory_new(sizeof *c);
    for (uint32_t n = mz_get_count(m, sizeof n); n > 0 && !m->bad; n--) {
        char *line = get_text(m);
        if (!m->bad && p->options->unseen && !mz_list_has(p->options->unseen, line))
            mz_list_add(p->options->unseen, line);
        free(line);
    }
    uint32_t texts = mz_get_count(m, sizeof texts);
    if (texts > MZ_MAX_UNSEEN) m->bad = true;
    for (uint32_t i = 0; i < texts && !m->bad; i++) {
        char *text = get_text(m);
        if (!*text || strlen(text) >= MZ_LONG_TEXT) m->bad = true;
        memcpy(c->unseen[i], text, strnlen(text, MZ_LONG_TEXT - 1));
        free(text);
    }
    c->unseen_write_count = get_entries(m, c->unseen_writes, MZ_MAX_UNSEEN_WRITES, sizeof *c->unseen_writes);
    c->warning_count = get_entries(m, c->warnings, MZ_MAX_WARNINGS, sizeof *c->warnings);
    c->reorder_count = get_entries(m, c->reorders, MZ_MAX_REORDERS, sizeof *c->reorders);
    mz_channel_contents_tidy(c);
}

/* The balancer has counted what was explored; in a stateful search, the workers have. */
static void count_before(struct mz_pool *p)
{
    struct mz_balance_counts c = mz_balance_counts(p->balance);
    struct mz_sample sample;
    if (!p->finished) {
        p->before.executions = c.executions;
        p->before.blocked = c.blocked;
        p->before.cut = c.cut;
        p->before.transitions = c.transitions;
    }
    bool walks = mz_balance_sampled(p->balance, &sample);
    p->common->executions = walks ? sample.walks : p->before.executions;
}

int mz_checkpoint_read(struct mz_pool *p)
{
    const char *path = p->options->resume;
    struct mz_strbuf b = {0};
    const char *unreadable = mz_files_load(path, ANY_FORM, &b);
    if (unreadable) {
        mz_strbuf_release(&b);
        return mz_fail("cannot read %s: %s", path, unreadable);
    }
    char *data = b.data;
    const char *at = data, *end = data + (b.length > HEX ? b.length - HEX : 0);
    char *wrong = what_is_wrong(p, &b, &at, end);
    if (!wrong) {
        struct mz_message m = {
            .data = (uint8_t *)data, .at = (size_t)(at - data), .count = (size_t)(end - data)};
        mz_get_bytes(&m, &p->layout, sizeof p->layout);
        if (p->layout.count > MZ_MAX_PARTS) m.bad = true;
        for (int i = 0; i < MZ_MAX_THREADS; i++) p->common->slots[i] = mz_get(&m);
        mz_get_bytes(&m, &p->before, sizeof p->before);
        get_findings(p, &m);
        get_unseen(p, &m);
        if (m.bad || !mz_balance_load(p->balance, &m) ||
            (p->finished && !mz_finished_load(p->finished, &m)) || m.at != m.count)
            wrong = mz_memory_string("it is damaged");
        count_before(p);
    }
    mz_strbuf_release(&b);
    if (!wrong) return 0;
    mz_fail("cannot resume from %s: %s", path, wrong);
    free(wrong);
    return MZ_STATUS_FAILED;
}
