/* Bring data of others within bounds: see untrusted.h. */
#include "launch/untrusted.h"

#include <stddef.h>
#include <string.h>
#include "event/op.h"
#include "event/thread_paths.h"

#define LARGEST_ACCESS (1u << 30) /* bytes */
#define ADDRESSES      (1ull << 47)
#define NO_THREAD      255 /* mz_record.other */

static void end_text(char *text, size_t size) { text[size - 1] = '\0'; }

static void limit(uint32_t *count, uint64_t most)
{
    if (*count > most) *count = (uint32_t)most;
}

static void tidy_slot(uint8_t *slot)
{
    if (*slot >= MZ_MAX_THREADS) *slot = 0;
}

static void tidy_op(uint8_t *op)
{
    if (*op >= MZ_OP_COUNT) *op = MZ_OP_NONE;
}

bool mz_finding_tidy(struct mz_finding *f, uint32_t block_count)
{
    if (f->kind == MZ_KIND_NOTHING || f->kind >= MZ_KIND_COUNT) return false;
    end_text(f->text, sizeof f->text);
    end_text(f->file, sizeof f->file);
    tidy_slot(&f->thread);
    tidy_slot(&f->other_thread);
    tidy_op(&f->op);
    tidy_op(&f->other_op);
    if (f->block > block_count) f->block = 0;
    if (f->area > MZ_AREA_GLOBAL) f->area = 0;
    limit(&f->size, LARGEST_ACCESS);
    limit(&f->other_size, LARGEST_ACCESS);
    for (int i = 0; i < MZ_MAX_THREADS; i++) {
        struct mz_thread_final *t = &f->threads[i];
        if (t->state > MZ_THREAD_EXITING) t->state = MZ_THREAD_ABSENT;
        if (t->holder < -1 || t->holder >= MZ_MAX_THREADS) t->holder = -1;
        tidy_op(&t->op);
    }
    return true;
}

bool mz_steps_sound(const struct mz_step *steps, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (steps[i].thread >= MZ_MAX_THREADS) return false;
    return true;
}

static void tidy_findings(struct mz_channel *c)
{
    uint32_t kept = 0;
    limit(&c->finding_count, MZ_MAX_FINDINGS);
    for (uint32_t i = 0; i < c->finding_count; i++) {
        struct mz_finding *f = &c->findings[i];
        if (!mz_finding_tidy(f, c->block_count)) continue;
        bool inside = f->steps_offset <= c->size && f->steps_offset % _Alignof(struct mz_step) == 0 &&
                      f->steps <= c->live_capacity &&
                      f->steps <= (c->size - f->steps_offset) / sizeof(struct mz_step);
        if (!inside) f->steps = 0, f->steps_offset = c->arena_offset;
        if (!mz_steps_sound((const void *)((const char *)c + f->steps_offset), f->steps)) f->steps = 0;
        if (kept != i) c->findings[kept] = *f;
        kept++;
    }
    c->finding_count = kept;
}

static void tidy_records(struct mz_channel *c)
{
    struct mz_record *records = (void *)((char *)c + c->records_offset);
    struct mz_block_history *blocks = (void *)((char *)c + c->blocks_offset);
    limit(&c->record_count, c->records_capacity);
    limit(&c->block_count, c->blocks_capacity);
    for (uint32_t i = 0; i < c->record_count; i++) {
        tidy_op(&records[i].op);
        tidy_slot(&records[i].thread);
        if (records[i].other != NO_THREAD) tidy_slot(&records[i].other);
        limit(&records[i].size, LARGEST_ACCESS);
    }
    for (uint32_t i = 0; i < c->block_count; i++) {
        tidy_slot(&blocks[i].allocated_by);
        tidy_slot(&blocks[i].freed_by);
    }
}

/* libdw cannot handle modules that overlap or have no place. The numbers of the other modules stay. */
static void tidy_module(struct mz_channel *c, uint32_t i)
{
    struct mz_module *m = &c->modules[i];
    bool sound = m->bias <= m->start && m->start < m->end && m->end < ADDRESSES;
    for (uint32_t k = 0; k < i && sound; k++)
        sound = m->start >= c->modules[k].end || c->modules[k].start >= m->end;
    end_text(m->path, sizeof m->path);
    if (!sound) *m = (struct mz_module){.path = "/dev/null"};
}

static void tidy_places(struct mz_channel *c)
{
    limit(&c->module_count, MZ_MAX_MODULES);
    limit(&c->area_count, MZ_MAX_AREAS);
    limit(&c->name_count, MZ_MAX_NAMES);
    for (uint32_t i = 0; i < c->module_count; i++) tidy_module(c, i);
    for (uint32_t i = 0; i < c->area_count; i++) tidy_slot(&c->areas[i].thread);
    for (uint32_t i = 0; i < c->name_count; i++) end_text(c->names[i].name, sizeof c->names[i].name);
    if (c->layout.count > MZ_MAX_PARTS) c->layout.count = MZ_MAX_PARTS;
}

static void tidy_lists(struct mz_channel *c)
{
    limit(&c->location_count, MZ_MAX_LOCATIONS);
    limit(&c->warning_count, MZ_MAX_WARNINGS);
    limit(&c->reorder_count, MZ_MAX_REORDERS);
    limit(&c->assertion_count, MZ_MAX_ASSERTIONS);
    limit(&c->unseen_write_count, MZ_MAX_UNSEEN_WRITES);
    for (uint32_t i = 0; i < MZ_MAX_HOT_SPOTS; i++)
        if (c->hot_spots[i].op >= MZ_OP_COUNT) c->hot_spots[i].op = MZ_OP_NONE;
    for (uint32_t i = 0; i < c->warning_count; i++) limit(&c->warnings[i].steps, MZ_WARNING_STEPS);
}

static void tidy_texts(struct mz_channel *c)
{
    end_text(c->end_text, sizeof c->end_text);
    end_text(c->hint, sizeof c->hint);
    end_text(c->kernel_call, sizeof c->kernel_call);
    end_text(c->tree_file, sizeof c->tree_file);
    for (size_t i = 0; i < sizeof c->notes / MZ_TEXT; i++) end_text(c->notes[i], MZ_TEXT);
    for (size_t i = 0; i < MZ_MAX_ASSERTIONS; i++)
        end_text(c->assertions[i].text, sizeof c->assertions[i].text);
    for (size_t i = 0; i < MZ_MAX_UNSEEN; i++) end_text(c->unseen[i], MZ_LONG_TEXT);
}

void mz_channel_contents_tidy(struct mz_channel *c)
{
    struct mz_step *live = (void *)((char *)c + c->live_offset);
    if (c->arena_used > c->arena_size) c->arena_used = c->arena_size;
    if (c->live_length > c->live_capacity) c->live_length = c->live_capacity;
    if (!mz_steps_sound(live, c->live_length)) c->live_length = 0;
    if (c->end >= MZ_END_COUNT) c->end = MZ_END_RUNNING;
    mz_threads_tidy(c->threads);
    tidy_records(c);
    tidy_findings(c);
    tidy_places(c);
    tidy_lists(c);
    tidy_texts(c);
}
