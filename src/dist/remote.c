/* Rank 0's side of workers of other ranks: see remote.h, and cluster_internal.h for the messages. */
#define _GNU_SOURCE
#include "dist/remote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/region.h"
#include "base/memory.h"
#include "base/message.h"
#include "dist/cluster_internal.h"
#include "dist/host_bell.h"
#include "launch/process.h"

#define FIRST_PATIENCE 60.0 /* seconds for a rank to start */
#define GRACE          2.0  /* seconds between asking a worker to stop and killing it */
#define NONSENSE       "it sends messages that are not valid"

extern char **environ;

/* ---- to a worker ---- */

static void send(struct mz_worker *w) { mz_cluster_send(w->cluster, w->rank); }

static struct mz_message *begin(struct mz_worker *w, enum mz_say kind)
{
    mz_cluster_begin(w->cluster, kind);
    mz_put(&w->cluster->out, w->number);
    return &w->cluster->out;
}

static void flush(struct mz_worker *w)
{
    struct mz_message *out = begin(w, MZ_SAY_TELL);
    MZ_ASSERT(w->out.count <= out->capacity - out->count);
    memcpy(out->data + out->count, w->out.data, w->out.count);
    out->count += w->out.count;
    send(w);
    mz_message_clear(&w->out);
}

static void tell_wish(struct mz_worker *w, enum mz_share_wish wish)
{
    if (w->wish == wish) return;
    w->wish = wish;
    mz_put(begin(w, MZ_SAY_WISH), wish);
    send(w);
}

static void tell_layout(struct mz_worker *w, const struct mz_layout *layout)
{
    mz_put_bytes(begin(w, MZ_SAY_LAYOUT), layout, sizeof *layout);
    send(w);
}

static void ask_to_stop(struct mz_worker *w)
{
    if (w->stopped) return;
    w->stopped = true;
    begin(w, MZ_SAY_STOP);
    send(w);
}

/* `report`: find out where it hangs, and send the result; otherwise forget the worker. */
static void kill_worker(struct mz_worker *w, bool report)
{
    if (w->killed) return;
    w->killed = true;
    mz_put(begin(w, MZ_SAY_KILL), report);
    send(w);
}

static void kill_at_once(struct mz_worker *w) { kill_worker(w, false); }

static void gone(struct mz_worker *w) { w->cluster->ranks[w->rank].living--; }

/* ---- ranks ---- */

static void put_list(struct mz_message *m, char *const *items)
{
    uint32_t n = 0;
    while (items[n]) n++;
    mz_put(m, n);
    for (uint32_t i = 0; i < n; i++) mz_put_text(m, items[i]);
}

static bool put_file(struct mz_message *m, const char *path)
{
    FILE *f = fopen(path, "re");
    uint64_t at = m->count, size = 0;
    if (!f) return false;
    mz_put_long(m, 0);
    for (size_t n; (n = fread(m->data + m->count, 1, 1 << 16, f)) > 0; size += n) m->count += n;
    memcpy(m->data + at, &size, sizeof size);
    bool good = !ferror(f) && size > 0;
    fclose(f);
    return good;
}

/* Everything that is needed to run the program: the other host need have neither the program, nor its files, nor our
 * environment. */
static bool put_setup(struct mz_pool *p, int rank, struct mz_message *m)
{
    const struct mz_target *t = p->target;
    struct rlimit stack = {RLIM_INFINITY, RLIM_INFINITY};
    char *none[] = {NULL};
    getrlimit(RLIMIT_STACK, &stack);
    mz_put_bytes(m, &t->options, sizeof t->options);
    mz_put(m, t->show_output);
    mz_put(m, t->output_to_stderr);
    mz_put_long(m, stack.rlim_cur);
    mz_host_bell_put(m, p);
    mz_put(m, p->cluster->ranks[rank].near != NULL); /* we ring its bell */
    mz_put_text(m, t->program->name);
    put_list(m, t->arguments->count ? t->arguments->items : none);
    put_list(m, environ);
    return put_file(m, t->program->path);
}

static void lose(struct mz_pool *p, int rank)
{
    struct mz_cluster *c = p->cluster;
    struct mz_rank *r = &c->ranks[rank];
    if (r->state == MZ_RANK_GONE) return;
    c->lost_some = true;
    r->state = MZ_RANK_GONE;
    c->transport->lose(rank);
    for (uint32_t i = 0; i < p->count; i++)
        if (p->workers[i]->rank == rank && p->workers[i]->alive) mz_pool_lost(p, p->workers[i]);
}

static void hear_hello(struct mz_pool *p, int rank, struct mz_message *m)
{
    struct mz_cluster *c = p->cluster;
    struct mz_rank *r = &c->ranks[rank];
    if (r->state != MZ_RANK_SILENT) { /* it has reported */
        m->bad = true;
        return;
    }
    char *build = mz_get_text(m), *host = mz_get_text(m);
    snprintf(r->host, sizeof r->host, "%s", host);
    if (m->bad || strcmp(build, mz_cluster_build()) != 0) {
        mz_notice("rank %d on %s is left out: it runs another build of mazurka", rank, host);
        r->state = MZ_RANK_OUT;
        c->left_out++;
    } else {
        r->near = mz_host_bell_open(m);
        mz_cluster_begin(c, MZ_SAY_SETUP);
        /* Return false if the program file is gone; then no worker can be started here either. */
        if (!m->bad && put_setup(p, rank, &c->out)) {
            mz_cluster_send(c, rank);
            r->state = MZ_RANK_READY;
        }
    }
    free(build);
    free(host);
}

static void leave_out(struct mz_pool *p, int rank)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (p->workers[i]->rank == rank && p->workers[i]->alive) mz_pool_lost(p, p->workers[i]);
    p->cluster->ranks[rank].state = MZ_RANK_OUT;
    p->cluster->left_out++;
}

static void leave_out_because(struct mz_pool *p, int rank, const char *why)
{
    const char *host = p->cluster->ranks[rank].host;
    mz_notice("rank %d on %s is left out: %s", rank, *host ? host : "an unknown host", why);
    for (uint32_t i = 0; i < p->count; i++)
        if (p->workers[i]->rank == rank && p->workers[i]->alive) kill_worker(p->workers[i], false);
    leave_out(p, rank);
}

static void nonsense(struct mz_pool *p, struct mz_worker *w) { leave_out_because(p, w->rank, NONSENSE); }

static void differs(struct mz_pool *p, struct mz_worker *w, const char *module)
{
    char *why = mz_format("it does not load the same %s as the first worker", module);
    leave_out_because(p, w->rank, why);
    free(why);
}

static void overdue(struct mz_pool *p, struct mz_worker *w, double seconds)
{
    if (seconds >= GRACE) kill_worker(w, true);
    if (seconds >= 2 * GRACE) lose(p, w->rank);
}

/* ---- workers ---- */

static bool start_worker(struct mz_pool *p, int rank)
{
    int fd;
    struct mz_worker *w = mz_worker_new(p, &mz_remote_workers, &fd);
    if (!w) return false;
    close(fd);
    w->rank = rank;
    w->cluster = p->cluster;
    mz_worker_add(p, w);
    p->cluster->ranks[rank].living++;
    begin(w, MZ_SAY_START);
    send(w);
    return true;
}

static void start(struct mz_pool *p, uint32_t wanted_here)
{
    (void)wanted_here;
    struct mz_cluster *c = p->cluster;
    if (!c) return;
    for (int r = 1; r < c->size; r++)
        while (c->ranks[r].state == MZ_RANK_READY && c->ranks[r].living < p->options->jobs &&
               p->count < MZ_MAX_WORKERS)
            if (!start_worker(p, r)) return;
}

/* Copy pieces of a worker's channel. The head of the channel and its offsets stay ours. */
static void hear_pieces(struct mz_pool *p, struct mz_worker *w, struct mz_message *m)
{
    struct mz_channel *to = w->outcome.channel;
    while (m->at < m->count && !m->bad) {
        uint64_t offset = mz_get_long(m);
        size_t size;
        const void *data = mz_get_block(m, &size);
        uint64_t all = w->outcome.channel_size;
        if (offset < offsetof(struct mz_channel, counters) || offset >= all || size > all - offset)
            m->bad = true;
        if (!m->bad) memcpy((char *)to + offset, data, size);
    }
    mz_channel_restore(to, &p->target->options);
    if (to->layout.count > MZ_MAX_PARTS) m->bad = true;
}

static void hear_ended(struct mz_pool *p, struct mz_worker *w, struct mz_message *m)
{
    w->outcome.wait_status = (int)mz_get(m);
    uint32_t how = mz_get(m);
    w->outcome.killed = how & 1;
    w->outcome.stalled = how & 2;
    w->outcome.peak_memory = mz_get_long(m);
    w->processor = (double)mz_get_long(m) * 1e-6;
    double agent = (double)mz_get_long(m) * 1e-6;
    if (m->bad || how > 3) {
        w->outcome.wait_status = 0;
        w->outcome.killed = w->outcome.stalled = false;
        m->bad = true;
        return;
    }
    p->cluster->ranks[w->rank].processor = agent;
    mz_pool_ended(p, w);
}

/* Send the slots of threads; otherwise a worker would ask for each of them. */
static void tell_slots(struct mz_pool *p, int rank, bool anyway)
{
    struct mz_cluster *c = p->cluster;
    uint32_t now[MZ_MAX_THREADS], *known = c->ranks[rank].slots;
    for (int s = 0; s < MZ_MAX_THREADS; s++) now[s] = __atomic_load_n(&p->common->slots[s], __ATOMIC_ACQUIRE);
    if (!anyway && !memcmp(now, known, sizeof now)) return;
    memcpy(known, now, sizeof now);
    mz_cluster_begin(c, MZ_SAY_SLOTS);
    mz_put_bytes(&c->out, now, sizeof now);
    mz_cluster_send(c, rank);
}

static void hear_slot(struct mz_pool *p, struct mz_worker *w, struct mz_message *m)
{
    uint32_t name = mz_get(m);
    if (!mz_common_sound(p->common, name)) m->bad = true;
    if (m->bad) return;
    mz_common_slot(p->common, name);
    tell_slots(p, w->rank, true); /* no free slot is an answer, too */
}

static void hear_told(struct mz_pool *p, struct mz_worker *w, struct mz_message *m)
{
    w->wish = MZ_SHARE_KEEP; /* it may have forgotten */
    while (w->alive && m->at < m->count && !m->bad) {
        size_t size;
        const void *data = mz_get_block(m, &size);
        struct mz_message one = {.data = (uint8_t *)data, .count = size, .capacity = size};
        if (!m->bad) mz_pool_hear(p, w, &one);
    }
}

static void hear_of_worker(struct mz_pool *p, struct mz_worker *w, uint32_t kind, struct mz_message *m)
{
    switch (kind) {
    case MZ_ANSWER_TOLD:
        hear_told(p, w, m);
        break;
    case MZ_ANSWER_PIECES:
        hear_pieces(p, w, m);
        break;
    case MZ_ANSWER_ENDED:
        hear_ended(p, w, m);
        break;
    case MZ_ANSWER_SLOT:
        hear_slot(p, w, m);
        break;
    default:
        m->bad = true;
    }
}

static void hear(struct mz_pool *p, int rank, struct mz_message *m)
{
    struct mz_rank *r = &p->cluster->ranks[rank];
    uint32_t kind = mz_get(m);
    uint64_t executions;
    if (kind != MZ_ANSWER_ALIVE && kind != MZ_ANSWER_PIECES) p->cluster->busy = mz_process_clock();
    switch (kind) {
    case MZ_ANSWER_HELLO:
        hear_hello(p, rank, m);
        break;
    case MZ_ANSWER_NEAR:
        r->rings = r->near != NULL;
        break;
    case MZ_ANSWER_CANNOT:
        leave_out(p, rank);
        break;
    case MZ_ANSWER_ALIVE:
        executions = mz_get_long(m);
        if (executions < r->executions) m->bad = true; /* the number can only grow */
        if (m->bad) break;
        __atomic_add_fetch(&p->common->executions, executions - r->executions, __ATOMIC_RELAXED);
        r->executions = executions;
        r->processor = (double)mz_get_long(m) * 1e-6;
        break;
    case MZ_ANSWER_INTERRUPT:
        mz_pool_interrupt(p);
        break;
    default: {
        uint32_t number = mz_get(m);
        struct mz_worker *w = number < p->count ? p->workers[number] : NULL;
        if (kind > MZ_ANSWER_FAREWELL || !w || w->rank != rank) m->bad = true;
        if (kind == MZ_ANSWER_FAREWELL)
            m->bad = false; /* it leaves: the pool will count it as lost */
        else if (!m->bad && w->alive)
            hear_of_worker(p, w, kind, m);
    }
    }
    if (m->bad && r->state != MZ_RANK_OUT && r->state != MZ_RANK_GONE) leave_out_because(p, rank, NONSENSE);
}

/* ---- */

static void beat(struct mz_pool *p, double now)
{
    struct mz_cluster *c = p->cluster;
    if (now - c->beat < MZ_HEARTBEAT) return;
    double busy = c->busy;
    c->beat = now;
    for (int r = 1; r < c->size; r++) {
        mz_cluster_begin(c, MZ_SAY_ALIVE);
        mz_put_long(&c->out, p->common->executions - c->ranks[r].executions);
        mz_cluster_send(c, r);
    }
    c->busy = busy;
}

static void look_for_dead(struct mz_pool *p, double now)
{
    struct mz_cluster *c = p->cluster;
    for (int r = 1; r < c->size; r++) {
        struct mz_rank *rank = &c->ranks[r];
        if (rank->heard <= 0)
            rank->heard = now + (FIRST_PATIENCE > c->patience ? FIRST_PATIENCE - c->patience : 0);
        if (rank->state == MZ_RANK_GONE || now - rank->heard < c->patience) continue;
        if (rank->host[0])
            mz_notice("rank %d on %s is lost: no message from it for %.0f s; other ranks continue its part",
                      r, rank->host, c->patience);
        else
            mz_notice("rank %d did not start", r);
        c->lost++;
        lose(p, r);
    }
}

static bool listen(struct mz_pool *p, double now)
{
    struct mz_message m;
    int rank;
    bool more = false;
    double until = mz_process_clock() + MZ_LISTEN;
    if (!p->cluster) return false;
    while (!more && mz_cluster_receive(p->cluster, &rank, &m)) {
        more = mz_process_clock() > until;
        if (rank <= 0 || rank >= p->cluster->size) continue;
        struct mz_rank *r = &p->cluster->ranks[rank];
        if (r->state != MZ_RANK_GONE) r->heard = now;
        if (r->state == MZ_RANK_SILENT || r->state == MZ_RANK_READY) hear(p, rank, &m);
        r->counted += r->rings; /* also the message that said so */
    }
    beat(p, now);
    look_for_dead(p, now);
    return more;
}

/* MPI may notice a message only at the next look. */
void mz_remote_meet(struct mz_pool *p)
{
    for (int i = 0; i < 3; i++) listen(p, mz_process_clock());
}

void mz_remote_summary(const struct mz_pool *p, struct mz_sharing *s)
{
    const struct mz_cluster *c = p->cluster;
    if (!c) return;
    char own[sizeof c->ranks->host] = "";
    gethostname(own, sizeof own - 1);
    s->ranks = (uint32_t)c->size - c->left_out;
    s->lost_ranks = c->lost;
    s->hosts = 1;
    for (int r = 1; r < c->size; r++) {
        s->processor += c->ranks[r].processor;
        bool is_new = c->ranks[r].host[0] && strcmp(c->ranks[r].host, own) != 0;
        for (int q = 1; q < r; q++) is_new &= strcmp(c->ranks[r].host, c->ranks[q].host) != 0;
        s->hosts += is_new;
    }
}

static void before_task(struct mz_pool *p, struct mz_worker *w) { tell_slots(p, w->rank, false); }

/* The agent watches the worker. */
static void no_look(struct mz_worker *w, double now) { (void)w, (void)now; }

static void no_reap(struct mz_pool *p, struct mz_worker *w) { (void)p, (void)w; }

static void no_clean_up(struct mz_worker *w) { (void)w; }

const struct mz_worker_kind mz_remote_workers = {
    .is_here = false,
    .batch = MZ_BATCH,
    .start = start,
    .listen = listen,
    .flush = flush,
    .wish = tell_wish,
    .ask_to_stop = ask_to_stop,
    .agree = tell_layout,
    .before_task = before_task,
    .look = no_look,
    .reap = no_reap,
    .overdue = overdue,
    .kill = kill_at_once,
    .gone = gone,
    .clean_up = no_clean_up,
    .nonsense = nonsense,
    .differs = differs,
};
