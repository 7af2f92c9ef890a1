/* Damaged messages from other ranks to rank 0, without MPI: the transport is a queue that this file fills. */
#include <stdlib.h>
#include <string.h>
#include "base/region.h"
#include "dist/cluster_internal.h"
#include "dist/pool_internal.h"
#include "dist/remote.h"
#include "launch/process.h"
#include "launch/untrusted.h"
#include "dist/host_bell.h"
#include "fuzz.h"

#define SMALL ((size_t)64 << 20)
#define RANKS 3
#define MOST  4096 /* bytes of a message, before the pieces of a channel */

/* ---- the transport ---- */

static uint8_t queued[2 * sizeof(struct mz_channel)];
static size_t queued_size;
static int queued_rank;
static bool is_queued;

static bool send_nothing(int rank, const void *data, size_t size)
{
    (void)rank, (void)data, (void)size;
    return true;
}

static const void *receive_queued(int *rank, size_t *size)
{
    if (!is_queued) return NULL;
    is_queued = false;
    *rank = queued_rank;
    *size = queued_size;
    return queued;
}

static bool yes(void) { return true; }
static void lose_rank(int rank) { (void)rank; }

static const struct mz_transport transport = {.name = "a queue",
                                              .send = send_nothing,
                                              .receive = receive_queued,
                                              .all_gone = yes,
                                              .all_come = yes,
                                              .lose = lose_rank};

/* ---- messages ---- */

static void put_told(struct mz_pool *p, struct mz_message *m)
{
    uint8_t bytes[512];
    for (uint32_t n = next_random(4); n > 0; n--) {
        size_t size = next_random(sizeof bytes);
        for (size_t i = 0; i < size; i++) bytes[i] = next_random(3) ? 0 : (uint8_t)next_random(256);
        if (size > p->message.count) size = p->message.count;
        if (next_random(2)) memcpy(bytes, p->message.data, size);
        if (size >= 4) memset(bytes, 0, 4), bytes[0] = (uint8_t)next_random(9);
        mz_put_block(m, bytes, size);
    }
}

static void put_a_piece(struct mz_message *m, const struct mz_channel *c, size_t offset, size_t size)
{
    mz_put_long(m, offset);
    mz_put_block(m, (const char *)c + offset, size);
}

/* Pieces of a channel as a worker leaves it, with a finding and a layout; then damage. */
static void put_pieces(struct mz_message *m)
{
    static struct mz_channel c;
    memset(&c, 0, sizeof c);
    c.started = 1, c.end = next_random(MZ_END_COUNT + 1), c.finding_count = next_random(3);
    c.threads[0].used = 1, c.threads[1].used = 1, c.threads[1].spawn_index = 1;
    c.module_count = next_random(3), c.layout.count = next_random(4);
    for (uint32_t i = 0; i < c.layout.count; i++)
        c.layout.parts[i] = (struct mz_part){.id = i, .start = i << 20, .size = 1 << 16, .module = i};
    for (uint32_t i = 0; i < c.finding_count; i++) {
        c.findings[i].kind = 1 + next_random(MZ_KIND_COUNT - 1);
        c.findings[i].steps = next_random(20);
        c.findings[i].steps_offset = sizeof c;
        c.findings[i].hash = next_random(1000);
    }
    for (uint32_t n = next_random(200); n > 0; n--) damage_once((uint8_t *)&c, sizeof c);
    damage_places(&c);
    size_t head = offsetof(struct mz_channel, counters), modules = offsetof(struct mz_channel, modules);
    size_t findings = offsetof(struct mz_channel, findings), layout = offsetof(struct mz_channel, layout);
    put_a_piece(m, &c, findings, 3 * sizeof c.findings[0]);
    put_a_piece(m, &c, head, modules - head);
    if (next_random(2)) put_a_piece(m, &c, layout, sizeof c.layout);
    if (next_random(2)) put_a_piece(m, &c, modules, findings - modules);
    if (next_random(2))
        put_a_piece(m, &c, offsetof(struct mz_channel, live_offset),
                    sizeof c - offsetof(struct mz_channel, live_offset));
}

static void put_answer(struct mz_pool *p, struct mz_message *m)
{
    uint32_t kind = next_random(12);
    if (kind == MZ_ANSWER_CANNOT || kind == MZ_ANSWER_INTERRUPT) kind = MZ_ANSWER_PIECES - next_random(2);
    mz_put(m, kind);
    if (kind == MZ_ANSWER_HELLO) {
        mz_put_text(m, mz_cluster_build());
        mz_put_text(m, "host\033[31m");
        mz_host_bell_put(m, p);
        return;
    }
    if (kind == MZ_ANSWER_ALIVE) {
        mz_put_long(m, next_random(1000));
        mz_put_long(m, next_random(1000));
        return;
    }
    mz_put(m, next_random(p->count + 1));
    if (kind == MZ_ANSWER_TOLD) put_told(p, m);
    if (kind == MZ_ANSWER_PIECES) put_pieces(m);
    if (kind == MZ_ANSWER_SLOT) mz_put(m, next_random(600));
    if (kind == MZ_ANSWER_ENDED) {
        mz_put(m, next_random(2) ? 9 : next_random(1 << 16));
        mz_put(m, next_random(4));
        for (int i = 0; i < 3; i++) mz_put_long(m, next_random(1 << 20));
    }
}

static void queue_answer(struct mz_pool *p)
{
    struct mz_message m = {.data = queued, .capacity = sizeof queued};
    put_answer(p, &m);
    for (uint32_t n = next_random(3) ? next_random(3) : 0; n > 0; n--)
        damage_once(m.data, next_random(2) || m.count < 16 ? m.count : 16);
    if (next_random(10) == 0) m.count = next_random((uint32_t)m.count);
    queued_size = m.count;
    queued_rank = 1 + (int)next_random(RANKS - 1);
    if (next_random(50) == 0) queued_rank = (int)next_random(8) - 2;
    is_queued = true;
}

/* ---- a run ---- */

static void make_pool(struct mz_pool *p)
{
    static struct mz_message message, reply, out;
    static struct mz_balance *balance;
    if (!balance) {
        message = (struct mz_message){.data = mz_region_reserve(SMALL), .capacity = SMALL};
        reply = (struct mz_message){.data = mz_region_reserve(SMALL), .capacity = SMALL};
        out = (struct mz_message){.data = mz_region_reserve(SMALL), .capacity = SMALL};
        balance = mz_balance_new(MZ_ALG_OPTIMAL, true, 1000);
    }
    mz_balance_reuse(balance);
    p->message = message;
    p->reply = reply;
    p->balance = balance;
    p->cluster->out = out;
    p->common_fd = -1;
    p->cluster->transport = &transport;
    p->cluster->size = RANKS;
    p->cluster->patience = 1e6;
}

static void report(struct mz_pool *p)
{
    mz_pool_collect(p);
    p->last = p->last ? p->last : p->workers[next_random(p->count)];
    mz_pool_merge(p);
    for (uint32_t i = 0; i < p->outcome->channel->finding_count; i++) {
        const struct mz_finding *f = &p->outcome->channel->findings[i];
        explain(p->outcome, f, mz_outcome_schedule(p->outcome, f), f->steps);
    }
}

void fuzz_rank0(void)
{
    struct mz_rank ranks[RANKS] = {0};
    struct mz_cluster cluster = {.ranks = ranks};
    struct mz_program program = {.path = (char *)"/bin/true", .name = (char *)"true"};
    struct mz_list arguments = {0};
    struct mz_target target = {.program = &program,
                               .arguments = &arguments,
                               .options = {.algorithm = MZ_ALG_OPTIMAL,
                                           .sleep_sets = 1,
                                           .max_steps = 1000,
                                           .shared = 1,
                                           .mode = MZ_MODE_EXPLORE}};
    struct mz_pool_options options = {.jobs = 1, .cluster = &cluster};
    struct mz_outcome outcome = {.program = program.path};
    struct mz_common common = {0};
    struct mz_pool p = {
        .target = &target, .options = &options, .outcome = &outcome, .common = &common, .cluster = &cluster};
    make_pool(&p);
    for (int r = 1; r < RANKS; r++) cluster.ranks[r].state = next_random(8) ? MZ_RANK_READY : MZ_RANK_SILENT;
    for (uint32_t i = 0; i < 12; i++) {
        mz_remote_workers.start(&p, 0);
        mz_pool_distribute(&p);
        for (uint32_t k = 0; k < p.count; k++)
            if (p.workers[k]->alive) mz_worker_flush(p.workers[k]);
        queue_answer(&p);
        mz_remote_workers.listen(&p, mz_process_clock());
    }
    if (p.count) report(&p);
    mz_outcome_release(&outcome);
    for (uint32_t i = 0; i < p.count; i++) mz_worker_free(p.workers[i]);
    for (uint32_t i = 0; i < p.found.count; i++) free(p.found.items[i].steps);
    for (int r = 1; r < RANKS; r++) mz_host_bell_close(cluster.ranks[r].near);
    free(p.found.items);
    free(p.workers);
}
