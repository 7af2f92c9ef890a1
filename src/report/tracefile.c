/* Trace files: see tracefile.h. Writing and reading stand side by side, record by record. */
#include "report/tracefile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/files.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "base/strbuf.h"
#include "event/thread_paths.h"

#define MAGIC      "mazurka-trace\t"
#define FORMAT     2 /* steps and slots name threads by their paths */
#define SOURCES    3 /* the same, and some steps name the source of their read */
#define INITIAL    "initial"
#define CHECKSUM   "checksum\t"
#define MAX_FIELDS 12

static const char *const op_keys[] = {
#define OP(name, ...) #name,
#include "event/op.def"
};

static const char *const state_keys[] = {"unknown",  "runnable", "finished", "locking", "waiting",
                                         "joining",  "semwait",  "barrier",  "futex",   "sigwait",
                                         "spinning", "failed",   "exiting"};
#define STATES (sizeof state_keys / sizeof *state_keys)
_Static_assert(STATES == MZ_THREAD_EXITING + 1, "a key for every state");

/* ---- fields ---- */

static void add_field(struct mz_strbuf *b, const char *text)
{
    static const char specials[] = "\t\n\r\\", letters[] = "tnr\\";
    mz_strbuf_addc(b, '\t');
    if (!text) mz_strbuf_add(b, "\\-");
    for (; text && *text; text++) {
        const char *special = strchr(specials, *text);
        if (special)
            mz_strbuf_addf(b, "\\%c", letters[special - specials]);
        else
            mz_strbuf_addc(b, *text);
    }
}

static void add_number(struct mz_strbuf *b, int64_t number) { mz_strbuf_addf(b, "\t%" PRId64, number); }

static void add_line(struct mz_strbuf *b, const char *key, const char *field)
{
    mz_strbuf_add(b, key);
    add_field(b, field);
    mz_strbuf_addc(b, '\n');
}

/* Undoes the escapes in place; NULL for \-. */
static char *unescape(char *field)
{
    char *to = field;
    if (!strcmp(field, "\\-")) return NULL;
    for (const char *from = field; *from; from++) {
        if (*from != '\\' || !from[1]) {
            *to++ = *from;
            continue;
        }
        from++;
        *to++ = *from == 't' ? '\t' : *from == 'n' ? '\n' : *from == 'r' ? '\r' : *from;
    }
    *to = '\0';
    return field;
}

static int64_t number(const char *field) { return field ? strtoll(field, NULL, 10) : 0; }

static uint8_t lookup(const char *const *keys, size_t count, const char *key)
{
    for (size_t i = 0; key && i < count; i++)
        if (!strcmp(keys[i], key)) return (uint8_t)i;
    return 0;
}

static uint8_t slot(const char *field)
{
    int64_t n = number(field);
    return n >= 0 && n < MZ_MAX_THREADS ? (uint8_t)n : 0;
}

/* ---- writing ---- */

static void write_recipe(struct mz_strbuf *b, const struct mz_recipe *r)
{
    add_line(b, "version", MZ_VERSION);
    add_line(b, "directory", r->directory);
    add_line(b, "program", r->program);
    if (r->binary) add_line(b, "binary", r->binary);
    add_line(b, "compiler", r->compiler);
    for (size_t i = 0; i < r->build.count; i++) add_line(b, "build", r->build.items[i]);
    for (size_t i = 0; i < r->arguments.count; i++) add_line(b, "argument", r->arguments.items[i]);
    add_line(b, "identity", r->identity);
    add_line(b, "algorithm", r->algorithm);
    add_line(b, "data-races", r->allow_races ? "allow" : "error");
    add_line(b, "heap", r->heap_reuse ? "reuse" : "fresh");
    add_line(b, "leaks", r->leaks ? "yes" : "no");
    add_line(b, "keep-going", r->keep_going ? "yes" : "no");
    add_line(b, "spurious-wakeups", r->spurious_wakeups ? "yes" : "no");
    if (r->nondet_given)
        mz_strbuf_addf(b, "nondet-range\t%" PRId64 "..%" PRId64 "\n", r->nondet_low, r->nondet_high);
    mz_strbuf_addf(b, "max-steps\t%" PRIu64 "\n", r->max_steps);
}

static void write_stack(struct mz_strbuf *b, const struct mz_stack *stack)
{
    for (size_t i = 0; i < stack->count; i++) {
        mz_strbuf_add(b, "frame");
        add_field(b, stack->frames[i].function);
        add_field(b, stack->frames[i].file);
        add_number(b, stack->frames[i].line);
        mz_strbuf_addc(b, '\n');
    }
}

static void write_finding(struct mz_strbuf *b, const struct mz_finding_report *finding)
{
    mz_strbuf_addf(b, "finding\t%s\t%u\t%d\t%" PRIu64, mz_kind_name(finding->kind), finding->thread,
                   finding->code, finding->execution);
    add_field(b, finding->file);
    add_number(b, finding->line);
    add_field(b, finding->message);
    add_field(b, finding->expression);
    mz_strbuf_addf(b, "\t%" PRIu64, finding->hash);
    mz_strbuf_addf(b, "\nobject\t%" PRIu64 "\t%" PRIu64, finding->address, finding->size);
    add_field(b, finding->object);
    mz_strbuf_addf(b, "\t%" PRIu64 "\n", finding->block);
    for (int i = 0; i < 2; i++) {
        const struct mz_access_report *a = &finding->access[i];
        mz_strbuf_addf(b, "access\t%u\t%s\t%u\n", a->thread, op_keys[a->op], a->size);
        write_stack(b, &a->stack);
    }
}

/* The heap block, or blocks, that the finding is about: each followed by its call stack. */
static void write_life(struct mz_strbuf *b, const char *key, const struct mz_access_report *a)
{
    if (a->op == MZ_OP_NONE) return;
    mz_strbuf_addf(b, "%s\t%u\t%u\n", key, a->thread, a->size);
    write_stack(b, &a->stack);
}

static void write_history(struct mz_strbuf *b, const struct mz_finding_report *finding)
{
    write_life(b, "allocated", &finding->allocated);
    write_life(b, "freed", &finding->freed);
    for (size_t i = 0; i < finding->leak_count; i++) {
        const struct mz_leak_report *l = &finding->leaks[i];
        mz_strbuf_addf(b, "leak\t%u\t%u\t%" PRIu64 "\t%" PRIu64 "\n", l->allocated.thread, l->allocated.size,
                       l->blocks, l->bytes);
        write_stack(b, &l->allocated.stack);
    }
}

static void write_threads(struct mz_strbuf *b, const struct mz_finding_report *finding)
{
    for (size_t i = 0; i < finding->thread_count; i++) {
        const struct mz_thread_report *t = &finding->threads[i];
        mz_strbuf_addf(b, "thread\t%u", t->slot);
        add_field(b, t->name);
        add_field(b, t->function);
        add_field(b, state_keys[t->state < STATES ? t->state : 0]);
        add_field(b, op_keys[t->op < MZ_OP_COUNT ? t->op : 0]);
        add_number(b, t->holder);
        add_field(b, t->object);
        mz_strbuf_addc(b, '\n');
        write_stack(b, &t->stack);
    }
}

static void write_operation(struct mz_strbuf *b, const struct mz_operation *o)
{
    mz_strbuf_addf(b, "op\t%u\t%u\t%s\t%d\t%d\t%d", o->step, o->thread, op_keys[o->op], o->other, o->failed,
                   o->racing);
    add_field(b, o->object);
    add_field(b, o->value);
    add_field(b, o->new_value);
    add_field(b, o->file);
    add_number(b, o->line);
    mz_strbuf_addc(b, '\n');
}

/* The numbers of threads in all that follows. */
static void write_slots(struct mz_strbuf *b, const struct mz_finding_report *finding)
{
    for (int s = 0; s < MZ_MAX_THREADS; s++)
        if (finding->slots[s].used) mz_strbuf_addf(b, "slot\t%d\t%s\n", s, finding->slots[s].name);
}

/* The event whose value the step reads, by its number; nothing for the newest value. */
static void write_source(struct mz_strbuf *b, uint32_t source)
{
    if (source == MZ_SOURCE_INITIAL)
        add_field(b, INITIAL);
    else if (source != MZ_SOURCE_NEWEST)
        add_number(b, source);
}

/* Each step, followed by its operations. */
static void write_schedule(struct mz_strbuf *b, const struct mz_finding_report *finding)
{
    size_t step = 0;
    for (size_t i = 0; i <= finding->operation_count; i++) {
        const struct mz_operation *o = i < finding->operation_count ? &finding->operations[i] : NULL;
        for (; step < finding->schedule_length && (!o || step < o->step); step++) {
            const struct mz_step *s = &finding->schedule[step];
            mz_strbuf_addf(b, "step\t%zu\t%s\t%u", step + 1, finding->slots[s->thread].name, s->choice);
            write_source(b, s->source);
            mz_strbuf_addc(b, '\n');
        }
        if (o) write_operation(b, o);
    }
}

static void write_locations(struct mz_strbuf *b, const struct mz_finding_report *finding)
{
    for (size_t i = 0; i < finding->location_count; i++)
        mz_strbuf_addf(b, "location\t%u\t%u\t%" PRIu64 "\n", finding->locations[i].kind,
                       finding->locations[i].index, finding->locations[i].offset);
}

static void write_checksum(struct mz_strbuf *b)
{
    struct mz_sha256 hash;
    char hex[65];
    mz_sha256_init(&hash);
    mz_sha256_add(&hash, b->data, b->length);
    mz_sha256_hex(&hash, hex);
    mz_strbuf_addf(b, CHECKSUM "%s\n", hex);
}

/* Older versions of mazurka read a file unless it needs what they do not know. */
static int format_of(const struct mz_finding_report *finding)
{
    for (size_t i = 0; i < finding->schedule_length; i++)
        if (finding->schedule[i].source != MZ_SOURCE_NEWEST) return SOURCES;
    return FORMAT;
}

int mz_trace_write(const char *path, const struct mz_recipe *recipe, const struct mz_finding_report *finding)
{
    struct mz_strbuf b = {0};
    mz_strbuf_addf(&b, MAGIC "%d\n", format_of(finding));
    write_recipe(&b, recipe);
    write_slots(&b, finding);
    write_finding(&b, finding);
    write_history(&b, finding);
    write_threads(&b, finding);
    write_locations(&b, finding);
    write_schedule(&b, finding);
    write_checksum(&b);
    int result = mz_files_store(path, b.data, b.length);
    mz_strbuf_release(&b);
    return result;
}

/* ---- reading ---- */

struct reader {
    struct mz_recipe *recipe;
    struct mz_finding_report *finding;
    struct mz_stack *stack; /* that `frame` records belong to */
    int accesses;
    size_t schedule_capacity, leak_capacity;
    bool damaged;
};

static void set(char **to, const char *text)
{
    free(*to);
    *to = mz_memory_string(text);
}

static void read_finding(struct reader *r, char **f)
{
    struct mz_finding_report *finding = r->finding;
    for (int kind = 0; kind < MZ_KIND_COUNT; kind++)
        if (f[1] && !strcmp(mz_kind_name((enum mz_kind)kind), f[1])) finding->kind = (enum mz_kind)kind;
    finding->thread = slot(f[2]);
    finding->code = (int)number(f[3]);
    finding->execution = (uint64_t)number(f[4]);
    set(&finding->file, f[5]);
    finding->line = (unsigned)number(f[6]);
    set(&finding->message, f[7]);
    set(&finding->expression, f[8]);
    finding->hash = f[9] ? strtoull(f[9], NULL, 10) : 0;
}

static void read_object(struct reader *r, char **f)
{
    r->finding->address = f[1] ? strtoull(f[1], NULL, 10) : 0;
    r->finding->size = (uint64_t)number(f[2]);
    set(&r->finding->object, f[3]);
    r->finding->block = f[4] ? strtoull(f[4], NULL, 10) : 0;
}

static void read_access(struct reader *r, char **f)
{
    if (r->accesses == 2) return;
    struct mz_access_report *a = &r->finding->access[r->accesses++];
    a->thread = slot(f[1]);
    a->op = lookup(op_keys, MZ_OP_COUNT, f[2]);
    a->size = (uint32_t)number(f[3]);
    r->stack = &a->stack;
}

static void read_life(struct reader *r, char **f, struct mz_access_report *a, uint8_t op)
{
    a->thread = slot(f[1]);
    a->size = (uint32_t)number(f[2]);
    a->op = op;
    r->stack = &a->stack;
}

static void read_allocated(struct reader *r, char **f)
{
    read_life(r, f, &r->finding->allocated, MZ_OP_ALLOCATE);
}
static void read_freed(struct reader *r, char **f) { read_life(r, f, &r->finding->freed, MZ_OP_DEALLOCATE); }

static void read_leak(struct reader *r, char **f)
{
    MZ_GROW(r->finding->leaks, r->finding->leak_count, r->leak_capacity);
    struct mz_leak_report *l = &r->finding->leaks[r->finding->leak_count++];
    *l = (struct mz_leak_report){.blocks = (uint64_t)number(f[3]), .bytes = (uint64_t)number(f[4])};
    read_life(r, f, &l->allocated, MZ_OP_ALLOCATE);
}

static void read_thread(struct reader *r, char **f)
{
    struct mz_finding_report *finding = r->finding;
    if (!finding->threads) finding->threads = mz_memory_new(MZ_MAX_THREADS * sizeof *finding->threads);
    if (finding->thread_count == MZ_MAX_THREADS) return;
    struct mz_thread_report *t = &finding->threads[finding->thread_count++];
    t->slot = slot(f[1]);
    t->name = mz_memory_string(f[2]);
    t->function = mz_memory_string(f[3]);
    t->state = lookup(state_keys, STATES, f[4]);
    t->op = lookup(op_keys, MZ_OP_COUNT, f[5]);
    t->holder = (int)number(f[6]);
    t->object = mz_memory_string(f[7]);
    r->stack = &t->stack;
}

static void read_location(struct reader *r, char **f)
{
    struct mz_finding_report *finding = r->finding;
    if (finding->location_count == MZ_MAX_LOCATIONS) return;
    if (!finding->locations)
        finding->locations = mz_memory_new(MZ_MAX_LOCATIONS * sizeof *finding->locations);
    struct mz_location *l = &finding->locations[finding->location_count++];
    l->kind = (uint8_t)number(f[1]);
    l->index = slot(f[2]);
    l->offset = f[3] ? strtoull(f[3], NULL, 10) : 0;
}

static void read_frame(struct reader *r, char **f)
{
    if (r->stack) mz_stack_add(r->stack, f[1], f[2], (unsigned)number(f[3]));
}

static void read_slot(struct reader *r, char **f)
{
    if (!f[1] || !f[2] || !mz_threads_add_path(r->finding->slots, (int)number(f[1]), f[2])) r->damaged = true;
}

/* An earlier step, or the initial value. False if it is neither. */
static bool read_source(const char *field, size_t step, uint32_t *source)
{
    *source = MZ_SOURCE_NEWEST;
    if (!field) return true;
    bool initial = !strcmp(field, INITIAL);
    int64_t n = number(field);
    *source = initial ? MZ_SOURCE_INITIAL : (uint32_t)n;
    return initial || (n > 0 && (uint64_t)n <= step);
}

static void read_step(struct reader *r, char **f)
{
    struct mz_finding_report *finding = r->finding;
    int thread = f[2] ? mz_threads_find(finding->slots, f[2]) : -1;
    int64_t choice = number(f[3]);
    uint32_t source;
    if (thread < 0 || choice < 0 || choice > UINT8_MAX ||
        !read_source(f[4], finding->schedule_length, &source)) {
        r->damaged = true;
        return;
    }
    MZ_GROW(finding->schedule, finding->schedule_length, r->schedule_capacity);
    finding->schedule[finding->schedule_length++] =
        (struct mz_step){.thread = (uint8_t)thread, .choice = (uint8_t)choice, .source = source};
}

static void read_operation(struct reader *r, char **f)
{
    struct mz_operation *o = mz_finding_report_add_operation(r->finding);
    o->step = (uint32_t)number(f[1]);
    o->thread = slot(f[2]);
    o->op = lookup(op_keys, MZ_OP_COUNT, f[3]);
    o->other = (int)number(f[4]);
    o->failed = number(f[5]);
    o->racing = number(f[6]);
    o->object = mz_memory_string(f[7]);
    o->value = mz_memory_string(f[8]);
    o->new_value = mz_memory_string(f[9]);
    o->file = mz_memory_string(f[10]);
    o->line = (unsigned)number(f[11]);
}

static void read_recipe_line(struct mz_recipe *r, const char *key, const char *value)
{
    if (!strcmp(key, "version")) set(&r->version, value);
    if (!strcmp(key, "directory")) set(&r->directory, value);
    if (!strcmp(key, "program")) set(&r->program, value);
    if (!strcmp(key, "binary")) set(&r->binary, value);
    if (!strcmp(key, "compiler")) set(&r->compiler, value);
    if (!strcmp(key, "algorithm")) set(&r->algorithm, value);
    if (!strcmp(key, "build") && value) mz_list_add(&r->build, value);
    if (!strcmp(key, "argument") && value) mz_list_add(&r->arguments, value);
    if (!strcmp(key, "identity") && value && strlen(value) == 64) memcpy(r->identity, value, 65);
    if (!strcmp(key, "data-races")) r->allow_races = value && !strcmp(value, "allow");
    if (!strcmp(key, "keep-going")) r->keep_going = value && !strcmp(value, "yes");
    if (!strcmp(key, "leaks")) r->leaks = value && !strcmp(value, "yes");
    if (!strcmp(key, "spurious-wakeups")) r->spurious_wakeups = value && !strcmp(value, "yes");
    if (!strcmp(key, "heap")) r->heap_reuse = value && !strcmp(value, "reuse");
    if (!strcmp(key, "nondet-range") && value)
        r->nondet_given = sscanf(value, "%" SCNd64 "..%" SCNd64, &r->nondet_low, &r->nondet_high) == 2;
    if (!strcmp(key, "max-steps") && value) r->max_steps = strtoull(value, NULL, 10);
}

static void read_line(struct reader *r, char *line)
{
    static const struct {
        const char *key;
        void (*read)(struct reader *, char **);
    } records[] = {{"finding", read_finding}, {"object", read_object},       {"access", read_access},
                   {"thread", read_thread},   {"frame", read_frame},         {"step", read_step},
                   {"op", read_operation},    {"allocated", read_allocated}, {"freed", read_freed},
                   {"leak", read_leak},       {"location", read_location},   {"slot", read_slot}};
    char *fields[MAX_FIELDS] = {0}, *rest = line, *field;
    for (int i = 0; i < MAX_FIELDS && (field = strsep(&rest, "\t")); i++) fields[i] = unescape(field);
    if (!fields[0]) return;
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        if (!strcmp(fields[0], records[i].key)) {
            records[i].read(r, fields);
            return;
        }
    read_recipe_line(r->recipe, fields[0], fields[1]);
}

/* Magic, format and checksum. On success the text ends before the checksum's line. */
static int verify(const char *path, struct mz_strbuf *b)
{
    size_t tail = strlen(CHECKSUM) + 64 + 1;
    const char *text = mz_strbuf_text(b);
    struct mz_sha256 hash;
    char hex[65];
    if (strncmp(text, MAGIC, strlen(MAGIC)) != 0) return mz_fail("%s is not a mazurka trace file", path);
    long format = strtol(text + strlen(MAGIC), NULL, 10);
    if (format > SOURCES)
        return mz_fail("%s was written by a newer mazurka (trace format %ld)", path, format);
    if (format < FORMAT)
        return mz_fail("%s was written by an older mazurka (trace format %ld): run `mazurka check` again",
                       path, format);
    if (b->length < tail || memchr(text, '\0', b->length)) return mz_fail("%s is damaged or cut short", path);
    const char *sum = text + b->length - tail;
    mz_sha256_init(&hash);
    mz_sha256_add(&hash, text, b->length - tail);
    mz_sha256_hex(&hash, hex);
    if (strncmp(sum, CHECKSUM, strlen(CHECKSUM)) != 0 || strncmp(sum + strlen(CHECKSUM), hex, 64) != 0)
        return mz_fail("%s is damaged: its checksum does not match", path);
    b->length -= tail;
    b->data[b->length] = '\0';
    return 0;
}

int mz_trace_read(const char *path, struct mz_recipe *recipe, struct mz_finding_report *finding)
{
    struct mz_strbuf b = {0};
    struct reader r = {.recipe = recipe, .finding = finding};
    *recipe = (struct mz_recipe){0};
    *finding = (struct mz_finding_report){0};
    finding->slots = mz_memory_new(MZ_MAX_THREADS * sizeof *finding->slots);
    const char *wrong = mz_files_load(path, MAGIC, &b);
    int status = wrong ? mz_fail("%s: %s", path, wrong) : 0;
    if (status == 0) status = verify(path, &b);
    if (status == 0) {
        char *rest = b.data, *line;
        while ((line = strsep(&rest, "\n"))) read_line(&r, line);
        if (r.damaged) status = mz_fail("%s is damaged: a record of it makes no sense", path);
        if (status == 0 && finding->kind == MZ_KIND_NOTHING) status = mz_fail("%s holds no finding", path);
        set(&finding->trace, path);
        if (!finding->message) finding->message = mz_memory_string(mz_kind_name(finding->kind));
    }
    mz_strbuf_release(&b);
    return status;
}

void mz_recipe_release(struct mz_recipe *r)
{
    free(r->version);
    free(r->directory);
    free(r->program);
    free(r->binary);
    free(r->compiler);
    free(r->algorithm);
    mz_list_release(&r->build);
    mz_list_release(&r->arguments);
    *r = (struct mz_recipe){0};
}
