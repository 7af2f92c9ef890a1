/* Damaged messages from rank 0 to an agent, without MPI, and what its workers may have written into their channels.
 *
 * It includes agent.c to reach its handlers. The program that the agent starts is a script that cannot be
 * run, so no case runs made-up code. */
#include "dist/agent.c"

#include <sys/prctl.h>
#include "base/region.h"
#include "fuzz.h"

#define SMALL ((size_t)64 << 20)

static bool send_nothing(int rank, const void *data, size_t size)
{
    (void)rank, (void)data, (void)size;
    return true;
}

static const void *receive_nothing(int *rank, size_t *size)
{
    (void)rank, (void)size;
    return NULL;
}

static bool yes(void) { return true; }

static const struct mz_transport transport = {
    .name = "nothing", .send = send_nothing, .receive = receive_nothing, .all_gone = yes, .all_come = yes};

static void put_setup(struct mz_message *m)
{
    static const struct mz_options_block options = {
        .mode = MZ_MODE_EXPLORE, .algorithm = MZ_ALG_OPTIMAL, .shared = 1, .max_steps = 1000};
    mz_put_bytes(m, &options, sizeof options);
    mz_put(m, 0);
    mz_put(m, 0);
    mz_put_long(m, 8 << 20);
    mz_put(m, (uint32_t)getpid());
    mz_put(m, next_random(20));
    mz_put_long(m, 0);
    mz_put(m, 1);
    mz_put_text(m, "name\033[31m");
    mz_put(m, 1);
    mz_put_text(m, "argument");
    mz_put(m, 2);
    mz_put_text(m, "A=1");
    mz_put_text(m, "LD_PRELOAD=/nowhere");
    mz_put_text(m, "no program\n");
}

static void put_say(struct mz_message *m, uint32_t kind)
{
    mz_put(m, kind);
    if (kind == MZ_SAY_SETUP) {
        put_setup(m);
        return;
    }
    if (kind == MZ_SAY_ALIVE) mz_put_long(m, next_random(1000));
    if (kind == MZ_SAY_SLOTS)
        for (int i = 0; i < MZ_MAX_THREADS; i++) mz_put(m, i && i < 4 ? (uint32_t)i : 0);
    if (kind == MZ_SAY_ALIVE || kind == MZ_SAY_SLOTS) return;
    mz_put(m, next_random(3));
    if (kind == MZ_SAY_TELL)
        for (uint32_t n = next_random(40000); n > 0; n--) m->data[m->count++] = (uint8_t)n;
    if (kind == MZ_SAY_LAYOUT) {
        struct mz_layout layout = {.count = next_random(4)};
        mz_put_bytes(m, &layout, sizeof layout);
    }
    if (kind == MZ_SAY_WISH) mz_put(m, next_random(4));
    if (kind == MZ_SAY_KILL) mz_put(m, next_random(2));
}

/* A worker with a process that only waits. */
static void add_worker(struct agent *a)
{
    int fd;
    struct mz_worker *w = mz_worker_new(&a->pool, &mz_local_workers, &fd);
    if (!w) abort();
    close(fd);
    pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;) pause();
    }
    if (pid < 0) abort();
    setpgid(pid, pid);
    w->watch = (struct mz_watch){.target = a->pool.target, .outcome = &w->outcome, .pid = pid};
    mz_worker_add(&a->pool, w);
    w->outcome.channel->started = 1;
}

/* Write random bytes anywhere in the channels, as a program under test may do. */
static void write_to_channels(struct agent *a)
{
    for (uint32_t i = 0; i < a->pool.count; i++) {
        struct mz_worker *w = a->pool.workers[i];
        struct mz_channel *c = w->outcome.channel;
        c->finding_count = next_random(5), c->layout.count = next_random(3);
        for (uint32_t n = next_random(300); n > 0; n--) damage_once((uint8_t *)c, sizeof *c);
        damage_places(c);
        for (uint32_t n = next_random(20); n > 0; n--)
            damage_once((uint8_t *)w->outcome.link, sizeof *w->outcome.link);
        for (uint32_t n = next_random(40); n > 0; n--)
            damage_once((uint8_t *)c->findings, 5 * sizeof *c->findings);
    }
}

static void hear_damaged(struct agent *a, uint32_t kind, uint8_t *bytes, size_t room)
{
    struct mz_message m = {.data = bytes, .capacity = room};
    put_say(&m, kind);
    for (uint32_t n = next_random(2) ? next_random(3) : 0; n > 0; n--)
        damage_once(m.data, next_random(2) || m.count < 16 ? m.count : 16);
    if (next_random(10) == 0) m.count = next_random((uint32_t)m.count);
    hear(a, &m);
}

void fuzz_agent(void)
{
    static uint8_t bytes[1 << 17];
    static struct mz_message out;
    struct mz_rank rank = {0};
    struct mz_cluster cluster = {.transport = &transport, .rank = 1, .size = 2, .ranks = &rank};
    struct agent a = {.cluster = &cluster, .can_share = true};
    static struct mz_common alone;
    if (!out.data) out = (struct mz_message){.data = mz_region_reserve(SMALL), .capacity = SMALL};
    cluster.out = out;
    alone = (struct mz_common){.asks = 1};
    a.pool.common = cluster.common = &alone;
    a.pool.common_fd = -1;
    hear_damaged(&a, MZ_SAY_SETUP, bytes, sizeof bytes);
    if (a.set_up && !a.quit) add_worker(&a);
    for (uint32_t i = 0; i < 8 && !a.quit; i++) {
        uint32_t kind = next_random(MZ_SAY_BYE + 2);
        hear_damaged(&a, kind == MZ_SAY_QUIT || kind == MZ_SAY_BYE ? MZ_SAY_TELL : kind, bytes, sizeof bytes);
        write_to_channels(&a);
        a.news = 0;
        look_at_workers(&a, mz_process_clock());
        beat(&a, mz_process_clock());
    }
    for (uint32_t i = 0; i < a.pool.count; i++) {
        send_end(&a, a.pool.workers[i]);
        mz_worker_end(&a.pool, a.pool.workers[i]);
    }
    sweep(&a);
    int fd;
    if (a.program.path && sscanf(a.program.path, "/proc/%*d/fd/%d", &fd) == 1) close(fd);
    mz_host_bell_close(rank.near);
    free(a.pool.workers);
    free(a.program.name);
    free(a.program.path);
    mz_list_release(&a.arguments);
    mz_list_release(&a.environment);
}
