/* A rank other than 0: starts workers, and carries messages between them and rank 0. See cluster.h, and
 * cluster_internal.h for the messages.
 *
 * The agent decides nothing. Of a worker's channel it sends only the changes, now and then, and everything when the
 * worker has ended. If rank 0 is silent for too long, the agent ends. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/files.h"
#include "base/memory.h"
#include "base/message.h"
#include "dist/cluster_internal.h"
#include "dist/host_bell.h"
#include "dist/local.h"
#include "launch/process.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x10u /* since Linux 6.3 */
#endif
#define POLL           0.02   /* seconds */
#define SOON           0.0002 /* when a worker is about to end */
#define NEWS           0.1    /* seconds between two reports of counters */
#define LAST_WAIT      3600.0 /* seconds that rank 0 gets to replay findings */
#define LAST_NAP       0.005
#define END_WAIT       10u                 /* seconds */
#define FIRST_PATIENCE 600.0               /* it may have to compile */
#define MOST_PIECES    ((uint64_t)1 << 30) /* about this many bytes of a channel in one message */

struct agent {
    struct mz_cluster *cluster;
    struct mz_pool pool; /* only what pool_worker.c needs */
    struct mz_target target;
    struct mz_program program;
    struct mz_list arguments, environment;
    double heard, news;
    double used_before;          /* processor seconds up to the last message from rank 0 */
    uint64_t counted, elsewhere; /* executions: ours, and those of other ranks that have been added */
    bool can_share, set_up, stopping, quit, bye;
};

/* ---- to rank 0 ---- */

static void send(struct agent *a) { mz_cluster_send(a->cluster, 0); }

static struct mz_message *begin(struct agent *a, enum mz_answer kind)
{
    mz_cluster_begin(a->cluster, kind);
    return &a->cluster->out;
}

static struct mz_message *begin_of(struct agent *a, enum mz_answer kind, const struct mz_worker *w)
{
    mz_put(begin(a, kind), w->number);
    return &a->cluster->out;
}

/* The program can write to its channel: do not trust the sizes in it. */
static void put_piece(struct mz_message *m, const struct mz_worker *w, uint64_t offset, uint64_t size)
{
    uint64_t all = w->outcome.channel_size;
    if (offset < offsetof(struct mz_channel, counters) || offset >= all || size > all - offset) return;
    if (size > MOST_PIECES || m->count > MOST_PIECES) return;
    mz_put_long(m, offset);
    mz_put_block(m, (const char *)w->outcome.channel + offset, size);
}

static size_t left(const char *at, const char *end) { return end - at < 64 ? (size_t)(end - at) : 64; }

/* The same without zeros: for parts that are sent once, and are zero at the receiver until then. */
static void put_sparse(struct mz_message *m, const struct mz_worker *w, uint64_t offset, uint64_t size)
{
    static const char zeros[64];
    const struct mz_channel *c = w->outcome.channel;
    const char *at = (const char *)c + offset, *end = at + size;
    while (at < end) {
        const char *from = at;
        size_t n;
        while (at < end && (n = left(at, end), memcmp(at, zeros, n) != 0)) at += n;
        if (at > from) put_piece(m, w, (uint64_t)(from - (const char *)c), (uint64_t)(at - from));
        while (at < end && (n = left(at, end), memcmp(at, zeros, n) == 0)) at += n;
    }
}

#define FIELD(field) offsetof(struct mz_channel, field), sizeof((struct mz_channel *)NULL)->field

/* Send new findings with their schedules, then the counters, with the number of findings. */
static void put_news(struct mz_worker *w, struct mz_message *m)
{
    const struct mz_channel *c = w->outcome.channel;
    uint64_t head = offsetof(struct mz_channel, counters);
    uint32_t n = c->finding_count < MZ_MAX_FINDINGS ? c->finding_count : MZ_MAX_FINDINGS;
    for (uint32_t i = w->findings_sent; i < n; i++) {
        const struct mz_finding *f = &c->findings[i];
        put_piece(m, w, offsetof(struct mz_channel, findings) + i * sizeof *f, sizeof *f);
        uint32_t steps = f->steps;
        if (steps <= w->watch.target->options.max_steps + 1)
            put_piece(m, w, f->steps_offset, steps * sizeof(struct mz_step));
    }
    w->findings_sent = n;
    put_piece(m, w, head, offsetof(struct mz_channel, modules) - head);
}

/* Send once, after the worker has started. */
static void put_beginning(struct mz_worker *w, struct mz_message *m)
{
    put_sparse(m, w, FIELD(modules));
    put_sparse(m, w, FIELD(layout));
    w->begun = true;
}

/* Send what the worker did not see, and its warnings, before anything that counts as explored: rank 0 saves both. */
static void send_unseen(struct agent *a, struct mz_worker *w)
{
    const struct mz_channel *c = w->outcome.channel;
    uint32_t texts = w->unseen_sent;
    while (texts < MZ_MAX_UNSEEN && c->unseen[texts][0]) texts++;
    if (texts == w->unseen_sent && c->unseen_write_count == w->writes_sent &&
        c->warning_count == w->warnings_sent && c->reorder_count == w->reorders_sent)
        return;
    w->unseen_sent = texts;
    w->writes_sent = c->unseen_write_count;
    w->warnings_sent = c->warning_count;
    w->reorders_sent = c->reorder_count;
    struct mz_message *m = begin_of(a, MZ_ANSWER_PIECES, w);
    put_sparse(m, w, FIELD(unseen));
    put_sparse(m, w, FIELD(unseen_write_count));
    put_sparse(m, w, FIELD(unseen_writes));
    put_sparse(m, w, FIELD(warning_count));
    put_sparse(m, w, FIELD(warnings));
    put_sparse(m, w, FIELD(reorder_count));
    put_sparse(m, w, FIELD(reorders));
    send(a);
}

static void send_news(struct agent *a, struct mz_worker *w)
{
    const struct mz_channel *c = w->outcome.channel;
    bool begins = !w->begun && c->layout.count;
    if (!begins && !memcmp(&w->sent, &c->counters, sizeof w->sent) && w->findings_sent == c->finding_count)
        return;
    struct mz_message *m = begin_of(a, MZ_ANSWER_PIECES, w);
    w->sent = c->counters;
    put_news(w, m);
    if (begins) put_beginning(w, m);
    double busy = a->cluster->busy;
    send(a);
    a->cluster->busy = busy;
}

static uint64_t own_microseconds(const struct agent *a)
{
    return a->set_up ? (uint64_t)((mz_process_used() - a->used_before) * 1e6) : 0;
}

/* How much was sent, and how long the worker waited. */
static void put_link(struct mz_worker *w, struct mz_message *m)
{
    uint64_t at = (uint64_t)((const char *)w->outcome.link - (const char *)w->outcome.channel);
    put_piece(m, w, at, offsetof(struct mz_link, to_worker.bytes));
    put_piece(m, w, at + offsetof(struct mz_link, to_command), offsetof(struct mz_ring, bytes));
}

static void send_end(struct agent *a, struct mz_worker *w)
{
    const struct mz_channel *c = w->outcome.channel;
    uint64_t tail = offsetof(struct mz_channel, live_offset);
    struct mz_message *m = begin_of(a, MZ_ANSWER_PIECES, w);
    put_news(w, m);
    put_beginning(w, m);
    mz_channel_restore(w->outcome.channel, &a->target.options);
    put_sparse(m, w, FIELD(threads));
    put_sparse(m, w, tail, sizeof *c - tail);
    if (c->live_length <= c->live_capacity)
        put_piece(m, w, c->live_offset, c->live_length * sizeof(struct mz_step));
    put_link(w, m);
    send(a);
    m = begin_of(a, MZ_ANSWER_ENDED, w);
    mz_put(m, (uint32_t)w->outcome.wait_status);
    mz_put(m, w->outcome.killed | (uint32_t)w->outcome.stalled << 1);
    mz_put_long(m, w->outcome.peak_memory);
    mz_put_long(m, (uint64_t)(w->processor * 1e6));
    mz_put_long(m, own_microseconds(a));
    send(a);
}

static void send_told(struct agent *a, struct mz_worker *w)
{
    struct mz_message m, *out = NULL;
    while (mz_local_hear(w, &m)) {
        if (!out) out = begin_of(a, MZ_ANSWER_TOLD, w);
        mz_put_block(out, m.data, m.count);
        if (out->count < MZ_BATCH) continue;
        send(a);
        out = NULL;
    }
    if (out) send(a);
}

static void send_slot(struct agent *a, struct mz_worker *w)
{
    uint32_t name = __atomic_load_n(&mz_local_link(w)->slot, __ATOMIC_ACQUIRE);
    if (!name || name == w->slot_asked) return;
    w->slot_asked = name;
    mz_put(begin_of(a, MZ_ANSWER_SLOT, w), name);
    send(a);
}

static void beat(struct agent *a, double now)
{
    double busy = a->cluster->busy;
    if (now - a->cluster->beat < MZ_HEARTBEAT) return;
    a->cluster->beat = now;
    struct mz_message *m = begin(a, MZ_ANSWER_ALIVE);
    a->counted = a->set_up ? a->pool.common->executions - a->elsewhere : 0;
    mz_put_long(m, a->counted);
    mz_put_long(m, own_microseconds(a));
    send(a);
    a->cluster->busy = busy;
}

/* ---- what rank 0 says ---- */

static void get_list(struct mz_message *m, struct mz_list *list)
{
    for (uint32_t n = mz_get_count(m, 8); n > 0 && !m->bad; n--) {
        char *text = mz_get_text(m);
        mz_list_add(list, text);
        free(text);
    }
}

/* The settings of the loader on this host stay. */
static void get_environment(struct mz_message *m, struct mz_list *list)
{
    extern char **environ;
    struct mz_list all = {0};
    get_list(m, &all);
    for (size_t i = 0; i < all.count; i++)
        if (strncmp(all.items[i], "LD_", 3) != 0) mz_list_add(list, all.items[i]);
    for (char **e = environ; *e; e++)
        if (!strncmp(*e, "LD_", 3)) mz_list_add(list, *e);
    mz_list_release(&all);
}

/* A file in memory without a name, so that nothing is left however we end. Its path is valid while we live, for us
 * and our children. */
static char *write_program(const char *name, const void *data, size_t size)
{
    char label[100];
    snprintf(label, sizeof label, "%s", mz_files_base(name));
    int fd = memfd_create(label, MFD_CLOEXEC | MFD_EXEC);
    if (fd < 0 && errno == EINVAL) fd = memfd_create(label, MFD_CLOEXEC); /* an older kernel */
    ssize_t n = fd < 0 ? -1 : 0;
    for (size_t done = 0; n >= 0 && done < size; done += (size_t)n)
        n = write(fd, (const char *)data + done, size - done);
    if (n >= 0) return mz_format("/proc/%d/fd/%d", (int)getpid(), fd);
    mz_fail("cannot keep the program in memory: %s", mz_reason(errno));
    if (fd >= 0) close(fd);
    return NULL;
}

/* Are these valid options of a search by workers? */
static bool are_sound(const struct mz_options_block *o)
{
    return o->mode == MZ_MODE_EXPLORE && o->algorithm < MZ_ALG_COUNT && o->shared &&
           o->max_steps <= MZ_MOST_STEPS && o->schedule_length == 0;
}

static void set_up(struct agent *a, struct mz_message *m)
{
    struct mz_target *t = &a->target;
    size_t size;
    if (t->program) { /* rank 0 has been told */
        m->bad = true;
        return;
    }
    a->used_before = mz_process_used();
    mz_get_bytes(m, &t->options, sizeof t->options);
    t->show_output = mz_get(m);
    t->output_to_stderr = mz_get(m);
    t->stack_limit = mz_get_long(m);
    a->cluster->ranks->near = mz_host_bell_open(m);
    a->cluster->ranks->rings = mz_get(m);
    a->program.name = mz_get_text(m);
    get_list(m, &a->arguments);
    get_environment(m, &a->environment);
    const void *data = mz_get_block(m, &size);
    if (!are_sound(&t->options)) m->bad = true;
    if (a->can_share && !m->bad) a->program.path = write_program(a->program.name, data, size);
    t->program = &a->program;
    t->arguments = &a->arguments;
    t->environment = mz_list_argv(&a->environment);
    t->cluster = true;
    a->pool.target = t;
    a->set_up = a->program.path != NULL;
    if (!a->set_up || a->cluster->ranks->near) {
        begin(a, a->set_up ? MZ_ANSWER_NEAR : MZ_ANSWER_CANNOT);
        send(a);
    }
}

static void start(struct agent *a, uint32_t number)
{
    bool can = a->set_up && a->pool.count < MZ_MAX_WORKERS;
    struct mz_worker *w = can ? mz_local_start_worker(&a->pool) : NULL;
    if (w) {
        w->number = number;
        return;
    }
    begin(a, MZ_ANSWER_CANNOT);
    send(a);
}

/* A worker that waits for a slot continues when it has one, or when none is left. */
static void take_slots(struct agent *a, struct mz_message *m)
{
    struct mz_common *common = a->pool.common;
    if (!a->set_up) return;
    for (int s = 0; s < MZ_MAX_THREADS; s++) {
        uint32_t name = mz_get(m);
        if (name && !mz_common_sound(common, name)) m->bad = true;
        if (name && !m->bad) __atomic_store_n(&common->slots[s], name, __ATOMIC_RELEASE);
    }
    for (uint32_t i = 0; i < a->pool.count; i++) {
        struct mz_worker *w = a->pool.workers[i];
        uint32_t name = __atomic_load_n(&mz_local_link(w)->slot, __ATOMIC_ACQUIRE);
        if (!w->alive || !name) continue;
        if (!mz_common_known_slot(common, name) && !common->slots[MZ_MAX_THREADS - 1]) continue;
        w->slot_asked = 0;
        __atomic_store_n(&mz_local_link(w)->slot, 0, __ATOMIC_RELEASE);
        mz_local_ring(w);
    }
}

static void kill_worker(struct agent *a, struct mz_worker *w, bool report)
{
    if (report)
        mz_watch_kill(&w->watch);
    else
        mz_worker_end(&a->pool, w);
}

static struct mz_worker *find(struct agent *a, uint32_t number)
{
    for (uint32_t i = 0; i < a->pool.count; i++)
        if (a->pool.workers[i]->number == number && a->pool.workers[i]->alive) return a->pool.workers[i];
    return NULL;
}

static void take_layout(struct mz_worker *w, struct mz_message *m)
{
    struct mz_layout layout;
    mz_get_bytes(m, &layout, sizeof layout);
    if (layout.count > MZ_MAX_PARTS) m->bad = true;
    if (!m->bad) w->outcome.channel->reference = layout;
}

static void take_wish(struct mz_worker *w, struct mz_message *m)
{
    uint32_t wish = mz_get(m);
    if (wish > MZ_SHARE_GIVE_ALL) m->bad = true;
    if (!m->bad) mz_local_link(w)->wish = wish;
}

static void hear_for(struct agent *a, uint32_t kind, struct mz_message *m)
{
    uint32_t number = mz_get(m);
    struct mz_worker *w = find(a, number);
    if (kind > MZ_SAY_BYE || (kind == MZ_SAY_START && w)) m->bad = true;
    if (m->bad) return;
    if (kind == MZ_SAY_START) start(a, number);
    if (!w) return; /* the worker has ended meanwhile */
    if (kind == MZ_SAY_TELL) mz_worker_pass(w, m->data + m->at, m->count - m->at);
    if (kind == MZ_SAY_LAYOUT) take_layout(w, m);
    if (kind == MZ_SAY_WISH) take_wish(w, m);
    if (kind == MZ_SAY_STOP) w->kind->ask_to_stop(w), a->stopping = true;
    if (kind == MZ_SAY_KILL) kill_worker(a, w, mz_get(m));
}

static void hear(struct agent *a, struct mz_message *m)
{
    uint32_t kind = mz_get(m);
    uint64_t others;
    if (kind != MZ_SAY_ALIVE) a->cluster->busy = mz_process_clock();
    switch (kind) {
    case MZ_SAY_SETUP:
        set_up(a, m);
        break;
    case MZ_SAY_SLOTS:
        take_slots(a, m);
        break;
    case MZ_SAY_ALIVE:
        others = mz_get_long(m);
        if (!a->set_up) break;
        __atomic_add_fetch(&a->pool.common->executions, others - a->elsewhere, __ATOMIC_RELAXED);
        a->elsewhere = others;
        break;
    case MZ_SAY_QUIT:
    case MZ_SAY_BYE: /* before the search started */
        a->quit = true;
        a->bye = kind == MZ_SAY_BYE;
        a->cluster->lost_some = mz_get(m);
        break;
    default:
        hear_for(a, kind, m);
    }
    if (!m->bad || a->quit) return;
    mz_fail("rank 0 sends messages that are not valid: this rank ends");
    begin(a, MZ_ANSWER_CANNOT);
    send(a);
    a->quit = true;
}

/* ---- the life of a worker ---- */

/* Has the worker ended? Where the program lacks a library, the worker cannot start: print that here, with the name
 * of this host. */
static void reap(struct agent *a, struct mz_worker *w)
{
    pid_t done = mz_local_wait(w, WNOHANG);
    if (done == 0 || (done < 0 && errno == EINTR)) return;
    kill(-w->watch.pid, SIGKILL);
    bool lost = WIFSIGNALED(w->outcome.wait_status) && WTERMSIG(w->outcome.wait_status) == SIGKILL;
    send_told(a, w);
    mz_worker_gone(&a->pool, w);
    if (!w->outcome.channel->started && !lost) {
        mz_target_no_start(&a->target, &w->outcome);
        begin(a, MZ_ANSWER_CANNOT);
        send(a);
        return;
    }
    send_end(a, w);
}

/* Release workers that have ended. */
static void sweep(struct agent *a)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->pool.count; i++) {
        struct mz_worker *w = a->pool.workers[i];
        if (w->alive)
            a->pool.workers[n++] = w;
        else
            mz_worker_free(w);
    }
    a->pool.count = n;
}

static void look_at_workers(struct agent *a, double now)
{
    bool news = now - a->news >= NEWS;
    for (uint32_t i = 0; i < a->pool.count; i++) {
        struct mz_worker *w = a->pool.workers[i];
        if (!w->alive) continue;
        send_unseen(a, w);
        send_told(a, w);
        send_slot(a, w);
        mz_worker_flush(w);
        mz_watch_life(&w->watch, now, mz_local_link(w)->waiting); /* perhaps for a task */
        if (news || (!w->begun && w->outcome.channel->layout.count)) send_news(a, w);
        reap(a, w);
    }
    if (news) a->news = now;
    sweep(a);
}

static void nap(struct agent *a)
{
    mz_local_nap(&a->pool,
                 mz_cluster_nap(a->cluster, mz_local_some_leave(&a->pool) || a->stopping ? SOON : POLL));
}

static void handle_signal(struct agent *a, int signal)
{
    if (signal == 0 || signal == SIGCHLD) return;
    begin(a, MZ_ANSWER_INTERRUPT);
    send(a);
}

static void live(struct agent *a)
{
    struct mz_message m;
    int rank;
    while (!a->quit) {
        double now = mz_process_clock();
        if (mz_local_rung(&a->pool)) a->cluster->busy = now;
        while (!a->quit && mz_cluster_receive(a->cluster, &rank, &m)) {
            if (rank != 0) continue;
            a->heard = now;
            hear(a, &m);
            a->cluster->ranks->counted += a->cluster->ranks->rings; /* also the message that said so */
        }
        look_at_workers(a, now);
        beat(a, now);
        handle_signal(a, mz_process_next_signal(0));
        if (now - a->heard > a->cluster->patience) _exit(0); /* rank 0 has died; workers die with us */
        if (!a->quit) nap(a);
    }
}

/* A rank that leaves before rank 0 has finished might end rank 0, too. Waiting for rank 0 inside MPI_Finalize would
 * keep a processor busy. */
static void wait_for_goodbye(struct agent *a)
{
    struct mz_message m;
    struct timespec t = {0, (long)(LAST_NAP * 1e9)};
    int rank;
    for (double start = mz_process_clock(); mz_process_clock() - start < LAST_WAIT; nanosleep(&t, NULL))
        while (mz_cluster_receive(a->cluster, &rank, &m)) {
            if (rank != 0 || mz_get(&m) != MZ_SAY_BYE) continue;
            a->cluster->lost_some = mz_get(&m);
            return;
        }
    a->cluster->lost_some = true;
}

static void greet(struct agent *a, const char *host)
{
    struct mz_message *m = begin(a, MZ_ANSWER_HELLO);
    mz_put_text(m, mz_cluster_build());
    mz_put_text(m, host);
    mz_host_bell_put(m, &a->pool);
    send(a);
}

int mz_agent(void)
{
    struct agent a = {0};
    char host[64] = "?", *name;
    gethostname(host, sizeof host - 1);
    if (mz_cluster_first_of_host()) mz_message_prefix("");
    mz_cluster_stand_behind();
    a.cluster = mz_cluster_join();
    if (!a.cluster) return MZ_STATUS_FAILED;
    mz_cluster_build(); /* open it while descriptors are left; otherwise this rank would look like another build */
    static struct mz_common
        alone; /* rank 0 must hear that this rank cannot take part; otherwise rank 0 would wait for it */
    a.can_share = mz_pool_make_common(&a.pool) == 0;
    if (!a.can_share) a.pool.common = &alone;
    a.pool.common->asks = 1;
    a.cluster->common = a.pool.common;
    name = mz_format("rank %d on %s: ", a.cluster->rank, host);
    mz_message_prefix(name);
    a.heard = mz_process_clock() + FIRST_PATIENCE;
    greet(&a, host);
    live(&a);
    for (uint32_t i = 0; i < a.pool.count; i++) mz_worker_end(&a.pool, a.pool.workers[i]);
    sweep(&a);
    if (!a.bye) wait_for_goodbye(&a);
    begin(&a, MZ_ANSWER_FAREWELL);
    send(&a);
    mz_cluster_leave(a.cluster, 0, END_WAIT);
    free(a.pool.workers);
    free(a.program.name);
    free(a.program.path);
    mz_list_release(&a.arguments);
    mz_list_release(&a.environment);
    free(name);
    return 0;
}
