/* The memory shared with a target, as the command makes and reads it: see target_internal.h. */
#define _GNU_SOURCE
#include "launch/target_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include "event/link.h"
#include "base/memory.h"
#include "launch/untrusted.h"

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

/* Layout of a channel:
 *
 *   header | live schedule | schedule to replay | records | blocks | schedules of findings | link | common
 *
 * It is the same for exploring and replaying; otherwise the program's later mappings would have other addresses.
 * Pages that nobody touches cost nothing. */
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

/* Code without hooks is known before the program runs. */
static void put_unseen(struct mz_channel *c, const struct mz_list *unseen)
{
    for (size_t i = 0; i < unseen->count && i < MZ_MAX_UNSEEN - 1; i++)
        memcpy(c->unseen[i], unseen->items[i], strnlen(unseen->items[i], MZ_LONG_TEXT - 1));
}

int mz_channel_create(const struct mz_target *t, struct mz_outcome *outcome)
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
    if (t->program) put_unseen(c, &t->program->unseen);
    if (t->program) c->options.unseen_code = t->program->unseen_code;
    if (t->options.mode == MZ_MODE_REPLAY && t->location_count) {
        c->location_count =
            (uint32_t)(t->location_count < MZ_MAX_LOCATIONS ? t->location_count : MZ_MAX_LOCATIONS);
        memcpy(c->locations, t->locations, c->location_count * sizeof *c->locations);
    }
    if (t->options.mode == MZ_MODE_REPLAY && t->threads) memcpy(c->threads, t->threads, sizeof c->threads);
    if (t->options.mode == MZ_MODE_REPLAY && t->options.schedule_length)
        memcpy((char *)c + c->options.schedule_offset, t->schedule,
               t->options.schedule_length * sizeof(struct mz_step));
    if (t->tree_file) memcpy(c->tree_file, t->tree_file, strnlen(t->tree_file, sizeof c->tree_file - 1));
    outcome->channel = c;
    outcome->channel_size = places.size;
    outcome->link = (struct mz_link *)((char *)c + places.link);
    return fd;
}

int mz_channel_failed(int error)
{
    bool large = error == ENOMEM || error == EFBIG;
    struct rlimit addresses;
    if (error == ENOMEM && getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY)
        return mz_fail("a limit of address space this low is not supported: raise it (ulimit -v unlimited)");
    return mz_fail("cannot make the memory shared with the program: %s%s", mz_reason(error),
                   large ? " (is --max-steps too large?)" : "");
}

void mz_channel_restore(struct mz_channel *c, const struct mz_options_block *options)
{
    struct places places = lay_out(options);
    put_places(c, &places);
    c->options = *options;
    c->options.schedule_offset = places.schedule;
}

/* Bring what the target wrote within bounds: the program may have damaged it. */
void mz_channel_tidy(struct mz_channel *c, const struct mz_options_block *options)
{
    mz_channel_restore(c, options);
    if (options->mode != MZ_MODE_REPLAY) c->record_count = c->block_count = 0; /* then nothing is recorded */
    mz_channel_contents_tidy(c);
}

const struct mz_step *mz_outcome_schedule(const struct mz_outcome *outcome, const struct mz_finding *finding)
{
    return (const void *)((const char *)outcome->channel + finding->steps_offset);
}
