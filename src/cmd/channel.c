/* The memory shared with a target, as the command makes and reads it: see target_internal.h. */
#define _GNU_SOURCE
#include "target_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "../event/link.h"
#include "../report/memory.h"

#define RECORDS     (1u << 19)
#define BLOCKS      (1u << 18)
#define LEAST_ARENA (64ull << 20)
#define MOST_ARENA  (1ull << 30)

static uint64_t align(uint64_t n) { return (n + 4095) & ~4095ull; }

static uint64_t arena_size(uint64_t steps)
{
    uint64_t want = steps * sizeof(struct mz_step) * MZ_MAX_FINDINGS;
    return align(want < LEAST_ARENA ? LEAST_ARENA : want > MOST_ARENA ? MOST_ARENA : want);
}

/* Where things lie in a channel.
 * header | live schedule | schedule to replay | records | blocks | schedules of findings | link | common
 * The same whether exploring or replaying, or what the program maps later would lie elsewhere. Pages that
 * nobody touches cost nothing. */
struct places {
    uint64_t size, steps, live, schedule, records, blocks, arena, link, common;
};

static struct places lay_out(const struct mz_options_block *options)
{
    struct places p = {.steps = options->max_steps, .live = align(sizeof(struct mz_channel))};
    if (options->schedule_length > p.steps) p.steps = options->schedule_length;
    p.schedule = p.live + align((p.steps + 1) * sizeof(struct mz_step));
    p.records = p.schedule + align(p.steps * sizeof(struct mz_step));
    p.blocks = p.records + align(RECORDS * sizeof(struct mz_record));
    p.arena = p.blocks + align(BLOCKS * sizeof(struct mz_block_history));
    p.link = p.arena + arena_size(p.steps);
    p.common = p.link + align(sizeof(struct mz_link));
    p.size = p.common + align(sizeof(struct mz_common));
    return p;
}

static void put_places(struct mz_channel *c, const struct places *p)
{
    c->size = p->size;
    c->live_offset = p->live, c->live_capacity = p->steps + 1;
    c->records_offset = p->records, c->records_capacity = RECORDS;
    c->blocks_offset = p->blocks, c->blocks_capacity = BLOCKS;
    c->arena_offset = p->arena, c->arena_size = p->link - p->arena;
    c->link_offset = p->link, c->common_offset = p->common;
}

int mz_channel_create(const struct mz_target *t, struct mz_channel **channel)
{
    struct places places = lay_out(&t->options);
    int fd = memfd_create("mazurka-channel", MFD_CLOEXEC);
    struct mz_channel *c = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, (off_t)places.size) == 0)
        c = mmap(NULL, places.size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (c == MAP_FAILED) {
        int error = errno;
        if (fd >= 0) close(fd);
        errno = error;
        return -1;
    }
    c->magic = MZ_CHANNEL_MAGIC;
    c->version = MZ_CHANNEL_VERSION;
    c->size_of_header = sizeof *c;
    c->options = t->options;
    c->options.schedule_offset = places.schedule;
    put_places(c, &places);
    if (t->options.mode == MZ_MODE_REPLAY && t->location_count) {
        c->location_count =
            (uint32_t)(t->location_count < MZ_MAX_LOCATIONS ? t->location_count : MZ_MAX_LOCATIONS);
        memcpy(c->locations, t->locations, c->location_count * sizeof *c->locations);
    }
    if (t->options.mode == MZ_MODE_REPLAY)
        memcpy((char *)c + c->options.schedule_offset, t->schedule,
               t->options.schedule_length * sizeof(struct mz_step));
    if (t->tree_file) memcpy(c->tree_file, t->tree_file, strnlen(t->tree_file, sizeof c->tree_file - 1));
    *channel = c;
    return fd;
}

int mz_channel_failed(int error)
{
    bool large = error == ENOMEM || error == EFBIG;
    return mz_fail("cannot make the memory shared with the program: %s%s", mz_reason(error),
                   large ? " (is --max-steps too large?)" : "");
}

/* What the target wrote is believed only within bounds: it may have been damaged by the program. */
void mz_channel_tidy(struct mz_channel *c, const struct mz_options_block *options)
{
    struct places places = lay_out(options);
    put_places(c, &places);
    if (c->arena_used > c->arena_size) c->arena_used = c->arena_size;
    if (c->live_length > c->live_capacity) c->live_length = c->live_capacity;
    if (c->record_count > c->records_capacity) c->record_count = (uint32_t)c->records_capacity;
    if (c->block_count > c->blocks_capacity) c->block_count = (uint32_t)c->blocks_capacity;
    if (c->finding_count > MZ_MAX_FINDINGS) c->finding_count = MZ_MAX_FINDINGS;
    if (c->location_count > MZ_MAX_LOCATIONS) c->location_count = MZ_MAX_LOCATIONS;
    if (c->warning_count > MZ_MAX_WARNINGS) c->warning_count = MZ_MAX_WARNINGS;
    if (c->module_count > MZ_MAX_MODULES) c->module_count = MZ_MAX_MODULES;
    c->end_text[sizeof c->end_text - 1] = '\0';
    for (int i = 0; i < MZ_MAX_THREADS; i++) c->threads[i].name[sizeof c->threads[i].name - 1] = '\0';
    for (uint32_t i = 0; i < c->module_count; i++) c->modules[i].path[sizeof c->modules[i].path - 1] = '\0';
    for (size_t i = 0; i < sizeof c->notes / MZ_TEXT; i++) c->notes[i][MZ_TEXT - 1] = '\0';
    for (uint32_t i = 0; i < c->finding_count; i++) {
        struct mz_finding *f = &c->findings[i];
        f->text[MZ_TEXT - 1] = f->file[MZ_TEXT - 1] = '\0';
        if (f->thread >= MZ_MAX_THREADS) f->thread = 0;
        if (f->other_thread >= MZ_MAX_THREADS) f->other_thread = 0;
        if (f->block > c->block_count) f->block = 0;
        if (f->op >= MZ_OP_COUNT) f->op = MZ_OP_NONE;
        if (f->other_op >= MZ_OP_COUNT) f->other_op = MZ_OP_NONE;
        if (f->steps_offset > c->size || f->steps > (c->size - f->steps_offset) / sizeof(struct mz_step))
            f->steps = 0;
    }
}

const struct mz_step *mz_outcome_schedule(const struct mz_outcome *outcome, const struct mz_finding *finding)
{
    return (const void *)((const char *)outcome->channel + finding->steps_offset);
}
