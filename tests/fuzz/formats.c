/* Damaged files and messages, behind right checksums: mz-fuzz-formats KIND SEED-FILE COUNT SEED
 *
 *   checkpoint  read it, hand out what is left in it, hear nonsense from workers, explain its findings
 *   trace       read it, vet it, explain it
 *   spoil       write damaged traces as files 1, 2, ... into the directory MZ_FUZZ_OUT, for commands.sh; each eighth one
 *               without a right checksum
 *   channel     a channel that the program has written to, SEED-FILE is any file
 *   rank0       messages from other ranks to rank 0, likewise (rank0.c)
 *   agent       messages from rank 0 to an agent, likewise (agent.c)
 *   tree        a recorded tree (--record-tree): read it, simulate searches on it
 *
 * All cases run in one process, built with sanitizers, which must not crash. Each case has a number: COUNT 1 and the
 * number as SEED run it alone. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/bug.h"
#include "base/region.h"
#include "dist/pool_internal.h"
#include "launch/untrusted.h"
#include "cmd/vet.h"
#include "report/collect.h"
#include "base/files.h"
#include "base/memory.h"
#include "report/printable_report.h"
#include "report/writer.h"
#include "base/sha256.h"
#include "report/text.h"
#include "report/tracefile.h"
#include "event/tree_file.h"
#include "../../tools/simulate/simulate.h"
#include "fuzz.h"

#define ROOM  (64u << 20)
#define LINES 7 /* of the head of a checkpoint, which describes the search */

_Noreturn void mz_bug(const char *file, int line, const char *what)
{
    fprintf(stderr, "MZ_BUG %s:%d: %s\n", file, line, what);
    abort();
}

static uint64_t whole; /* cases that were accepted */

/* ---- damage ---- */

static uint64_t state;

uint32_t next_random(uint32_t below)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return below ? (uint32_t)(state >> 20) % below : 0;
}

void damage_once(uint8_t *data, size_t size)
{
    static const uint64_t odd[] = {0,          1,          0x7f,       0x80,       0xff, 0xffff,
                                   0x7fffffff, 0x80000000, 0xffffffff, UINT64_MAX, 64,   65};
    size_t at = next_random((uint32_t)size), width = 1u << next_random(4);
    uint64_t value = odd[next_random(sizeof odd / sizeof *odd)];
    switch (next_random(4)) {
    case 0:
        data[at] = (uint8_t)(data[at] ^ 1u << next_random(8));
        break;
    case 1:
        data[at] = (uint8_t)next_random(256);
        break;
    case 2:
        memcpy(data + at, &value, width < size - at ? width : size - at);
        break;
    default: {
        size_t from = next_random((uint32_t)size), n = next_random(32);
        if (n > size - at) n = size - at;
        if (n > size - from) n = size - from;
        memmove(data + at, data + from, n);
    }
    }
}

/* Sizes, counts and places are few bytes among many: damage them in particular. */
void damage_places(struct mz_channel *c)
{
    for (uint32_t n = next_random(4); n > 0; n--) {
        size_t head = offsetof(struct mz_channel, options), at = offsetof(struct mz_channel, live_offset);
        damage_once((uint8_t *)c, head);
        damage_once((uint8_t *)c + at, offsetof(struct mz_channel, tree_file) - at);
        damage_once((uint8_t *)&c->module_count, 6 * sizeof c->module_count);
        if (next_random(4) == 0) damage_once((uint8_t *)&c->layout.count, sizeof c->layout.count);
        damage_once((uint8_t *)&c->findings[0].steps, sizeof(uint32_t) + sizeof(uint64_t));
    }
}

/* A copy, damaged from `start` on; sometimes cut short. */
static uint8_t *damaged(const uint8_t *seed, size_t start, size_t *size)
{
    uint8_t *copy = mz_memory_new(*size + 1);
    memcpy(copy, seed, *size);
    for (uint32_t n = 1 + next_random(6); n > 0; n--) damage_once(copy + start, *size - start);
    if (next_random(16) == 0) *size = start + next_random((uint32_t)(*size - start));
    return copy;
}

/* ---- explaining findings ---- */

void explain(const struct mz_outcome *outcome, const struct mz_finding *f, const struct mz_step *steps,
             size_t count)
{
    struct mz_report report = {.algorithm = "optimal", .verdict = MZ_ERROR, .finding_count = 1};
    struct mz_strbuf text = {0}, json = {0};
    struct mz_style style = {.color = true, .all = true, .width = 80};
    report.findings = mz_memory_new(sizeof *report.findings);
    mz_collect_finding(outcome, f, steps, count, &report.findings[0]);
    mz_json_writer.write(&json, &report, NULL);
    mz_report_printable(&report);
    mz_text_report(&text, &report, &style);
    mz_strbuf_release(&text);
    mz_strbuf_release(&json);
    mz_report_release(&report);
}

static void write_sealed(int fd, const uint8_t *data, size_t size, const char *before, const char *after)
{
    struct mz_sha256 hash;
    char hex[65];
    mz_sha256_init(&hash);
    mz_sha256_add(&hash, data, size);
    mz_sha256_hex(&hash, hex);
    if (ftruncate(fd, 0) < 0 || pwrite(fd, data, size, 0) != (ssize_t)size) abort();
    lseek(fd, (off_t)size, SEEK_SET);
    if (dprintf(fd, "%s%s%s", before, hex, after) < 0) abort();
}

/* ---- checkpoints ---- */

static void play_workers(struct mz_pool *p)
{
    uint8_t bytes[512];
    mz_balance_expect(p->balance, 3);
    for (uint32_t i = 0; i < 12; i++) {
        uint32_t w = next_random(3);
        bool given = mz_balance_task(p->balance, w, true, &p->message);
        size_t n = next_random(sizeof bytes);
        for (size_t k = 0; k < n; k++) bytes[k] = next_random(3) ? 0 : (uint8_t)next_random(256);
        if (given && n > p->message.count) n = p->message.count;
        if (given && next_random(2)) memcpy(bytes, p->message.data, n);
        if (n >= 4) memset(bytes, 0, 4), bytes[0] = (uint8_t)next_random(9);
        struct mz_message m = {.data = bytes, .count = n, .capacity = n};
        if (mz_balance_hear(p->balance, w, &m, &p->reply) != MZ_HEARD) mz_balance_lost(p->balance, w);
    }
}

static void try_checkpoint(const char *path, const struct mz_fingerprint *fingerprint)
{
    static struct mz_channel *channel; /* empty: a run without any information */
    static struct mz_message message, reply;
    static struct mz_balance *balance;
    if (!channel) {
        channel = mz_memory_new(sizeof *channel);
        message = (struct mz_message){.data = mz_region_reserve(ROOM), .capacity = ROOM};
        reply = (struct mz_message){.data = mz_region_reserve(ROOM), .capacity = ROOM};
        balance = mz_balance_new(MZ_ALG_OPTIMAL, true, 1000);
    }
    mz_balance_reuse(balance);
    struct mz_pool_options options = {.jobs = 1, .resume = path, .fingerprint = fingerprint};
    struct mz_target target = {.options = {.algorithm = MZ_ALG_OPTIMAL, .sleep_sets = 1, .max_steps = 1000}};
    struct mz_common common = {0};
    struct mz_pool p = {.target = &target,
                        .options = &options,
                        .common = &common,
                        .message = message,
                        .reply = reply,
                        .balance = balance};
    struct mz_outcome outcome = {.channel = channel, .channel_size = sizeof *channel, .program = "/bin/true"};
    if (mz_checkpoint_read(&p) == 0) play_workers(&p), whole++;
    for (uint32_t i = 0; i < p.found.count; i++) {
        explain(&outcome, &p.found.items[i].finding, p.found.items[i].steps, p.found.items[i].finding.steps);
        free(p.found.items[i].steps);
    }
    free(p.found.items);
    free(p.kept);
}

static void fuzz_checkpoint(const uint8_t *seed, size_t size, int fd, const char *path)
{
    char *lines[LINES] = {0};
    size_t start = 0;
    for (int i = 0; i < LINES; i++) {
        const uint8_t *end = memchr(seed + start, '\n', size - start);
        if (!end) abort();
        lines[i] = mz_memory_stringn((const char *)seed + start, (size_t)(end - seed) - start);
        start = (size_t)(end - seed) + 1;
    }
    struct mz_fingerprint fingerprint = {
        .options = lines[3], .arguments = lines[4], .build = lines[5], .identity = lines[6]};
    size_t length = size - 64;
    uint8_t *copy = damaged(seed, next_random(20) ? start : 0, &length);
    write_sealed(fd, copy, length, "", "");
    try_checkpoint(path, &fingerprint);
    for (int i = 0; i < LINES; i++) free(lines[i]);
    free(copy);
}

/* ---- traces ---- */

static void fuzz_trace(const uint8_t *seed, size_t size, int fd, const char *path)
{
    size_t length = size - strlen("checksum\t") - 65;
    uint8_t *copy = damaged(seed, next_random(8) ? strlen("mazurka-trace\t2\n") : 0, &length);
    struct mz_report report = {.algorithm = "replay", .verdict = MZ_ERROR, .finding_count = 1};
    struct mz_recipe recipe;
    struct mz_strbuf text = {0};
    struct mz_style style = {.color = true, .all = true, .width = 80};
    report.findings = mz_memory_new(sizeof *report.findings);
    write_sealed(fd, copy, length, "checksum\t", "\n");
    if (mz_trace_read(path, &recipe, &report.findings[0]) == 0) {
        whole++;
        mz_vet_recipe(path, &recipe);
        mz_json_writer.write(&text, &report, NULL);
        mz_trace_write("/dev/null", &recipe, &report.findings[0]);
        mz_report_printable(&report);
        mz_text_report(&text, &report, &style);
    }
    mz_strbuf_release(&text);
    mz_recipe_release(&recipe);
    mz_report_release(&report);
    free(copy);
}

static void spoil_trace(const uint8_t *seed, size_t size, uint64_t number)
{
    bool raw = next_random(8) == 0;
    size_t length = raw ? size : size - strlen("checksum\t") - 65;
    uint8_t *copy = damaged(seed, next_random(8) ? strlen("mazurka-trace\t2\n") : 0, &length);
    char *path = mz_format("%s/%llu", getenv("MZ_FUZZ_OUT"), (unsigned long long)number);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0) abort();
    if (raw && write(fd, copy, length) != (ssize_t)length) abort();
    if (!raw) write_sealed(fd, copy, length, "checksum\t", "\n");
    close(fd);
    free(path);
    free(copy);
}

/* ---- channels ---- */

static void fuzz_channel(void)
{
    struct mz_target target = {.options = {.max_steps = 100, .mode = MZ_MODE_EXPLORE}};
    struct mz_outcome outcome = {.program = "/bin/true"};
    struct mz_report report = {.algorithm = "optimal"};
    int fd = mz_channel_create(&target, &outcome);
    if (fd < 0) abort();
    close(fd);
    struct mz_channel *c = outcome.channel;
    c->started = 1, c->end = MZ_END_FINDING, c->finding_count = 1, c->threads[0].used = 1;
    c->findings[0].kind = 1 + next_random(MZ_KIND_COUNT - 1);
    c->record_count = next_random(8), c->block_count = next_random(8), c->module_count = next_random(4);
    for (uint64_t i = 0; i < c->module_count; i++)
        c->modules[i] = (struct mz_module){i << 30, i << 30, (i << 30) + (1 << 20), 1, 64, ""};
    for (uint32_t n = next_random(400); n > 0; n--) damage_once((uint8_t *)c, sizeof *c);
    for (uint32_t n = next_random(100); n > 0; n--)
        damage_once((uint8_t *)c->findings, 2 * sizeof *c->findings);
    damage_places(c);
    mz_channel_tidy(c, &target.options);
    damage_once((uint8_t *)c + c->records_offset, 8 * sizeof(struct mz_record));
    mz_channel_tidy(c, &target.options);
    for (uint32_t i = 0; i < c->finding_count; i++)
        explain(&outcome, &c->findings[i], mz_outcome_schedule(&outcome, &c->findings[i]),
                c->findings[i].steps);
    mz_collect_run(&outcome, &report);
    mz_report_release(&report);
    mz_outcome_release(&outcome);
}

/* ---- recorded trees ---- */

struct numbers { /* a growing array */
    uint64_t *at;
    size_t count, room;
};

static void add_number(struct numbers *n, uint64_t value)
{
    if (n->count == n->room) n->at = realloc(n->at, (n->room = 2 * n->room + 64) * sizeof *n->at);
    if (!n->at) abort();
    n->at[n->count++] = value;
}

static struct numbers numbers_of(const uint8_t *data, size_t size)
{
    struct numbers n = {0};
    for (size_t i = 0; i < size;) {
        uint64_t value = 0;
        for (int shift = 0; i < size && shift < 64; shift += 7) {
            value |= (uint64_t)(data[i] & 127) << shift;
            if (!(data[i++] & 128)) break;
        }
        add_number(&n, value);
    }
    return n;
}

static uint64_t number_at(const struct numbers *n, size_t at) { return at < n->count ? n->at[at] : 0; }

/* Change some numbers of the executions, then write a record at the end with the matching sums. */
static void damage_numbers(struct numbers *n, bool optimal)
{
    size_t at = 0, executions = 0;
    uint64_t ending[4] = {0}, steps = 0;
    size_t most = n->count > 5 ? n->count - 5 : 0; /* the record at the end has five */
    for (uint32_t k = 1 + next_random(3); k > 0 && most; k--) {
        uint64_t *number = &n->at[next_random((uint32_t)most)];
        uint32_t how = next_random(8);
        *number = how < 5 ? next_random(16) : how < 7 ? *number + next_random(9) - 4 : next_random(1u << 22);
    }
    while (at < most && n->at[at] % 4 != MZ_TREE_END) {
        ending[n->at[at] % 4]++;
        steps += n->at[at] / 4;
        at += 2 + optimal;
        if (executions++) at += 1 + optimal;
        uint64_t asks = number_at(n, at++);
        at += asks < n->count ? 2 * asks : n->count;
    }
    if (at > most) at = most;
    n->count = at;
    add_number(n, MZ_TREE_END);
    for (int i = 0; i < 3; i++) add_number(n, ending[i]);
    add_number(n, steps);
}

static void simulate_tree(const struct tree *t)
{
    struct parameters p = {.workers = 1 + next_random(9),
                           .step = 1e3,
                           .latency = 5e3,
                           .start = 1e4,
                           .task = 1e3,
                           .split = 3e3,
                           .update = 300,
                           .done = 1e3,
                           .here = 64,
                           .limit = 1,
                           .least = next_random(2) ? 1e4 : 0,
                           .single = next_random(2),
                           .waits = next_random(4) == 0,
                           .again = next_random(4) == 0};
    struct result r;
    longest_chain(t, &p);
    simulate_ours(t, &p, &r);
    if (t->algorithm != MZ_ALG_OPTIMAL && t->most_branches <= 64 && t->max_depth < 100000)
        simulate_paper(t, &p, &r);
}

static void fuzz_tree(const uint8_t *seed, size_t size, int fd, const char *path)
{
    size_t length = size - 8;
    bool raw = next_random(3) == 0;
    uint8_t *copy = damaged(seed, raw && next_random(4) ? MZ_TREE_HEAD : raw ? 0 : length - 1, &length);
    struct numbers n = {0};
    if (!raw) {
        n = numbers_of(seed + MZ_TREE_HEAD, size - 8 - MZ_TREE_HEAD);
        damage_numbers(&n, seed[MZ_TREE_HEAD - 3] == MZ_ALG_OPTIMAL);
        free(copy);
        copy = mz_memory_new(MZ_TREE_HEAD + 10 * n.count + 8);
        memcpy(copy, seed, MZ_TREE_HEAD);
        length = MZ_TREE_HEAD;
        for (size_t i = 0; i < n.count; i++) {
            uint64_t v = n.at[i];
            for (; v >= 128; v >>= 7) copy[length++] = (uint8_t)(v | 128);
            copy[length++] = (uint8_t)v;
        }
    }
    uint64_t sum = mz_tree_sum(MZ_TREE_SUM, copy, length);
    if (ftruncate(fd, 0) < 0 || pwrite(fd, copy, length, 0) != (ssize_t)length ||
        pwrite(fd, &sum, sizeof sum, (off_t)length) != sizeof sum)
        abort();
    struct tree *t = tree_read(path);
    if (t) simulate_tree(t), whole++;
    tree_free(t);
    free(n.at);
    free(copy);
}

int main(int argc, char **argv)
{
    if (argc != 5) return 2;
    struct mz_strbuf seed = {0};
    if (mz_files_load(argv[2], "", &seed)) return 2;
    uint64_t count = strtoull(argv[3], NULL, 10), first = strtoull(argv[4], NULL, 10);
    int fd = memfd_create("damaged", 0);
    char *path = mz_format("/proc/self/fd/%d", fd);
    mz_message_mute();
    for (uint64_t i = first; i < first + count; i++) {
        state = (i + 1) * 0x9e3779b97f4a7c15ull;
        if (getenv("MZ_FUZZ_SHOW")) fprintf(stderr, "case %llu\n", (unsigned long long)i);
        if (!strcmp(argv[1], "checkpoint"))
            fuzz_checkpoint((const uint8_t *)seed.data, seed.length, fd, path);
        if (!strcmp(argv[1], "trace")) fuzz_trace((const uint8_t *)seed.data, seed.length, fd, path);
        if (!strcmp(argv[1], "spoil")) spoil_trace((const uint8_t *)seed.data, seed.length, i);
        if (!strcmp(argv[1], "channel")) fuzz_channel();
        if (!strcmp(argv[1], "rank0")) fuzz_rank0();
        if (!strcmp(argv[1], "agent")) fuzz_agent();
        if (!strcmp(argv[1], "tree")) fuzz_tree((const uint8_t *)seed.data, seed.length, fd, path);
    }
    printf("%llu damaged cases of %s", (unsigned long long)count, argv[1]);
    if (whole) printf(", %llu of them read as whole", (unsigned long long)whole);
    puts("");
    free(path);
    mz_strbuf_release(&seed);
    return 0;
}
