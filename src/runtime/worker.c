/* A worker of a shared search: explores one task after the other, as the command hands them out, and talks to
 * the balancer there (src/engine/share.c says about what). Nothing of this happens within an execution, and
 * between executions only a word of shared memory is looked at.
 *
 * Workers of one run must agree about what is not in the messages:
 *
 *   numbers of threads   who is the n-th child of whom gets its slot from a table that all share
 *   what was learned     locations that are visible, loops that wait, barriers: it comes with the first
 *                        task; who learns more restarts the search, and all others are ended
 *   addresses            in messages all are as they would be in one layout that all know (layout.c) */
#include "kernel.h"
#include "pthread_objects.h"

#include "../base/region.h"
#include "../event/link.h"
#include "../event/message.h"

#include <time.h>

#define ROOM     ((size_t)1 << 30) /* address space for one message */
#define PATIENCE 100000000         /* ns, until it is looked again whether to stop */
#define LEAST    1000000u          /* ticks that a piece should be worth, at least */
#define QUIET    2000000u          /* ticks between rings for what can wait */
#define KEPT     6                 /* that part of its memory a worker may fill with what is to be kept */
#define SOON     20000000u         /* ticks that it is worth to stay awake for a message */

#define FUTEX_WAIT 0
#define FUTEX_WAKE 1

static struct mz_link *link_;
static struct mz_common *common;
static struct mz_message in;
static uint64_t given; /* when something was given to others, or came */
static uint64_t rung;  /* when the command was last told that there is something to hear */
static uint64_t started;
static uint64_t waiting_since; /* for a message */
static bool unheard;           /* there is something that it was not told of */
static uint64_t counted;
static bool agreed;        /* on addresses */
static enum mz_end enough; /* the limit that was reached */

/* ---- talking ---- */

/* Before it is looked, for the last time, if there is a reason to wait. */
static uint32_t about_to_wait(void)
{
    __atomic_store_n(&link_->waiting, 1, __ATOMIC_SEQ_CST);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return link_->bell;
}

static void wait_for_bell(uint32_t seen)
{
    struct timespec t = {0, PATIENCE};
    mz_sys(SYS_futex, &link_->bell, FUTEX_WAIT, seen, &t, 0, 0);
}

static bool told_to_stop(void) { return rt.channel->options.stop; }

static void wake_command(void)
{
    __atomic_add_fetch(&common->bell, 1, __ATOMIC_SEQ_CST);
    mz_sys(SYS_futex, &common->bell, FUTEX_WAKE, 1, 0, 0, 0);
}

static void ring_command(void)
{
    rung = mz_ticks();
    unheard = false;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (common->waiting) wake_command();
}

/* As much as there is room for; waits if there is none. */
static size_t put_some(const uint8_t *from, size_t size)
{
    size_t n = mz_ring_put(&link_->to_command, from, size);
    if (n > 0) return n;
    ring_command();
    uint32_t seen = about_to_wait();
    n = mz_ring_put(&link_->to_command, from, size);
    if (n == 0 && !told_to_stop()) wait_for_bell(seen);
    link_->waiting = 0;
    return n;
}

/* The command is told that there is room again, if it waits for that: it is either seen by it before it waits, or
 * that it waits is seen here. */
static size_t get_there(uint8_t *to, size_t size)
{
    size_t n = mz_ring_get(&link_->to_worker, to, size);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (n > 0 && link_->more) ring_command();
    return n;
}

/* What comes soon is not slept for: a processor that has nothing to do may be given to others by a hypervisor,
 * and who is woken may be put where another worker is; both were seen to cost a tick of the kernel or more. Whoever
 * else wants the processor has it. */
static size_t get_soon(uint8_t *to, size_t size)
{
    size_t n = get_there(to, size);
    while (n == 0 && common->spare && mz_ticks() - waiting_since < SOON && !told_to_stop()) {
        mz_sys(SYS_sched_yield);
        n = get_there(to, size);
    }
    return n;
}

static size_t get_some(uint8_t *to, size_t size)
{
    size_t n = get_soon(to, size);
    if (n > 0) return n;
    uint32_t seen = about_to_wait();
    n = get_there(to, size);
    if (n == 0 && !told_to_stop()) wait_for_bell(seen);
    link_->waiting = 0;
    return n;
}

static bool put(const uint8_t *from, size_t size)
{
    for (size_t n = 0; size > 0; from += n, size -= n)
        if (!(n = put_some(from, size)) && told_to_stop()) return false;
    return true;
}

static bool get(uint8_t *to, size_t size)
{
    for (size_t n = 0; size > 0; to += n, size -= n)
        if (!(n = get_some(to, size)) && told_to_stop()) return false;
    return true;
}

/* The next message; false if it is time to stop. */
static bool receive(struct mz_message *m)
{
    uint32_t length;
    mz_message_clear(m);
    waiting_since = mz_ticks();
    if (!get((uint8_t *)&length, sizeof length)) return false;
    MZ_ASSERT(length <= m->capacity);
    if (!get(m->data, length)) return false;
    m->count = length;
    return true;
}

/* ---- threads ---- */

/* Of a cluster: rank 0 knows. Once for each thread. */
static int ask_for_slot(uint32_t name)
{
    int slot = mz_common_known_slot(common, name);
    if (slot) return slot;
    __atomic_store_n(&link_->slot, name, __ATOMIC_RELEASE);
    ring_command();
    while (__atomic_load_n(&link_->slot, __ATOMIC_ACQUIRE) == name) {
        uint32_t seen = about_to_wait();
        if (told_to_stop()) mz_worker_stop();
        if (link_->slot == name) wait_for_bell(seen);
        link_->waiting = 0;
    }
    return mz_common_known_slot(common, name);
}

int mz_worker_slot(int parent, unsigned n)
{
    uint32_t name = ((uint32_t)parent << 8 | n) + 1;
    return common->asks ? ask_for_slot(name) : mz_common_slot(common, name);
}

/* ---- what the engine asks for ---- */

/* Updates can wait a little: the command is not woken for each of them. */
static void ring_sometimes(void)
{
    if (unheard && mz_ticks() - rung >= QUIET) ring_command();
}

/* A limit is no reason to lose what has been explored, if that can be kept. Some memory is left for what one execution
 * may need; and what is given back takes more on its way to a checkpoint than here: a node of a wakeup tree 24 bytes
 * here, then some 220 in the balancer's tree and in messages. */
static bool is_enough(void)
{
    const struct mz_options_block *o = &rt.channel->options;
    if (o->max_executions && mz_worker_executions() >= o->max_executions)
        enough = MZ_END_EXECUTIONS;
    else if (o->memory_limit && (mz_explore_memory(rt.x) > o->memory_limit - o->memory_limit / 8 ||
                                 mz_explore_trees(rt.x) > o->memory_limit / KEPT))
        enough = MZ_END_MEMORY;
    return enough != MZ_END_RUNNING;
}

static enum mz_share_wish wish(void *system)
{
    uint32_t w = link_->wish;
    (void)system;
    ring_sometimes();
    if (mz_unlikely(rt.channel->options.keep) && is_enough()) return MZ_SHARE_GIVE_ALL;
    if (mz_likely(w == MZ_SHARE_KEEP)) return MZ_SHARE_KEEP;
    if (w == MZ_SHARE_GIVE && mz_ticks() - given < LEAST && rt.channel->options.shared < 2)
        return MZ_SHARE_KEEP;
    return (enum mz_share_wish)w;
}

static void send(void *system, const struct mz_message *m)
{
    uint32_t length = (uint32_t)m->count, kind = *(const uint32_t *)(const void *)m->data;
    (void)system;
    if (kind == MZ_SHARE_SPLIT || kind == MZ_SHARE_RETURN) {
        if (rt.channel->options.shared < 2) link_->wish = MZ_SHARE_KEEP;
        given = mz_ticks();
    }
    if (!put((const uint8_t *)&length, sizeof length) || !put(m->data, m->count)) mz_worker_stop();
    unheard = true;
    if (kind != MZ_SHARE_UPDATE) ring_command();
}

static bool listen(void *system, struct mz_message *reply, bool wait)
{
    (void)system;
    ring_sometimes();
    if (!wait && !mz_ring_holds(&link_->to_worker)) return false;
    if (unheard && wait) ring_command();
    if (!receive(reply)) mz_worker_stop();
    return true;
}

static void put_knowledge(void *system, struct mz_message *m)
{
    const struct mz_channel *c = rt.channel;
    (void)system;
    mz_put(m, c->location_count);
    for (uint32_t i = 0; i < c->location_count; i++) {
        struct mz_location l = c->locations[i];
        if (l.kind == MZ_LOCATION_ADDRESS) l.offset = mz_layout_out(l.offset);
        mz_put_bytes(m, &l, sizeof l);
    }
    mz_spin_put(m);
    mz_lent_put(m);
    mz_barriers_put(m);
}

static void get_knowledge(void *system, struct mz_message *m)
{
    struct mz_channel *c = rt.channel;
    (void)system;
    uint32_t n = mz_get_count(m, sizeof *c->locations);
    MZ_ASSERT(n <= MZ_MAX_LOCATIONS);
    c->location_count = n;
    mz_get_bytes(m, c->locations, n * sizeof *c->locations);
    for (uint32_t i = 0; i < n; i++)
        if (c->locations[i].kind == MZ_LOCATION_ADDRESS)
            c->locations[i].offset = mz_layout_in(c->locations[i].offset);
    mz_spin_get(m);
    mz_lent_get(m);
    mz_barriers_get(m);
}

static uint64_t key_out(void *system, uint64_t key)
{
    (void)system;
    return mz_layout_out(key);
}

static uint64_t key_in(void *system, uint64_t key)
{
    (void)system;
    return mz_layout_in(key);
}

const struct mz_share_options mz_worker_sharing = {.wish = wish,
                                                   .send = send,
                                                   .listen = listen,
                                                   .put_knowledge = put_knowledge,
                                                   .get_knowledge = get_knowledge,
                                                   .key_out = key_out,
                                                   .key_in = key_in,
                                                   .room = ROOM};

/* ---- its life ---- */

void mz_worker_init(void)
{
    link_ = (struct mz_link *)((char *)rt.channel + rt.channel->link_offset);
    common = (struct mz_common *)((char *)rt.channel + rt.channel->common_offset);
    if (!rt.shared) return;
    mz_layout_init();
    wake_command(); /* it does not look at that before it waits */
    started = mz_ticks();
    in = (struct mz_message){.data = mz_region_reserve(ROOM), .capacity = ROOM};
    MZ_ASSERT(in.data != NULL);
}

/* The executions of all workers, where they are limited. */
uint64_t mz_worker_executions(void)
{
    uint64_t now = mz_explore_counters(rt.x)->executions, before = counted;
    counted = now;
    return __atomic_add_fetch(&common->executions, now - before, __ATOMIC_RELAXED);
}

_Noreturn void mz_worker_stop(void)
{
    rt.channel->end = MZ_END_TIME;
    mz_quit(0);
}

void mz_worker_leaves(void)
{
    if (!rt.shared || !common) return;
    link_->leaves = 1;
    wake_command();
}

enum mz_end mz_worker_enough(void) { return enough == MZ_END_RUNNING ? MZ_END_COMPLETE : enough; }

/* The next task; false when there are no more. What was asked about the one before may still be answered. */
bool mz_worker_task(void)
{
    uint64_t before = mz_ticks();
    bool some;
    rt.channel->analysing = 1;
    for (;;) {
        some = receive(&in);
        if (!some || *(const uint32_t *)(const void *)in.data != MZ_SHARE_REPLY) break;
        mz_get(&in);
        mz_explore_learn(rt.x, &in);
    }
    given = mz_ticks();
    link_->idle += given - before;
    link_->alive = given - started;
    if (!agreed) mz_layout_agree();
    agreed = true;
    if (some && !mz_explore_task(rt.x, &in)) MZ_BUG("a task that cannot be understood");
    rt.channel->analysing = 0;
    return some;
}
