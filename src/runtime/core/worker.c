/* A worker of a shared search. It explores the tasks that the command hands out, one after the other, and
 * talks to the balancer in the command (src/engine/worker_part.c explains the messages). It does this only
 * between executions, and mostly it only reads one word of shared memory. Called by executions.c, and by the
 * engine through mz_worker_sharing.
 *
 * All workers of a run must agree on:
 *
 *   numbers of threads   a shared table gives the n-th child of a thread its slot
 *   what was learned     visible locations, waiting loops, barriers: they come with the first task. A worker
 *                        that learns more restarts the search, and the other workers are ended
 *   addresses            messages contain addresses of one layout that all workers know (layout.c) */
#include "base/region.h"
#include "event/link.h"
#include "event/packet.h"
#include "runtime/core/facts.h"
#include "runtime/core/room.h"
#include "runtime/kernel/kernel.h"
#include "runtime/loops/loops.h"
#include "runtime/sync/sync.h"

#include <time.h>

#define ROOM       ((size_t)1 << 30) /* address space for one message */
#define PATIENCE   100000000         /* ns of sleep, before the worker checks again whether to stop */
#define LEAST      1000000u          /* ticks that a worker keeps new work before it gives some away */
#define QUIET      2000000u          /* ticks between two rings of the bell for messages that can wait */
#define KEPT       6                 /* wakeup trees may fill 1/KEPT of the worker's memory limit */
#define LAST_WAITS 100u              /* for room in the ring, after the worker was told to stop */
#define SOON       20000000u         /* ticks to stay awake for a message before sleeping */

#define FUTEX_WAIT 0
#define FUTEX_WAKE 1

#define wo mz_core_room.worker

/* ---- talking ---- */

/* Announce that the worker is about to sleep. After this call the caller checks once more whether it has to
 * sleep. Return the value of the bell for wait_for_bell. */
static uint32_t about_to_wait(void)
{
    __atomic_store_n(&wo.link->waiting, 1, __ATOMIC_SEQ_CST);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return wo.link->bell;
}

static void wait_for_bell(uint32_t seen)
{
    struct timespec t = {0, PATIENCE};
    mz_sys(SYS_futex, &wo.link->bell, FUTEX_WAIT, seen, &t, 0, 0);
}

static bool told_to_stop(void) { return rt.channel->options.stop; }

/* Is the worker told to stop, so that it must not wait for the command? A worker of a sample tells first what it has met: the
 * command listens until the worker has ended, or kills it. */
static bool must_not_wait(void)
{
    return told_to_stop() && (!mz_explore_sample(rt.x) || ++wo.last_waits > LAST_WAITS);
}

static void wake_command(void)
{
    __atomic_add_fetch(&wo.common->bell, 1, __ATOMIC_SEQ_CST);
    mz_sys(SYS_futex, &wo.common->bell, FUTEX_WAKE, 1, 0, 0, 0);
}

static void ring_command(void)
{
    wo.rung = mz_ticks();
    wo.unheard = false;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (wo.common->waiting) wake_command();
}

/* Put as much into the ring as fits, and return how much. If the ring is full, wait for the command. 0:
 * nothing fitted. */
static size_t put_some(const uint8_t *from, size_t size)
{
    size_t n = mz_ring_put(&wo.link->to_command, from, size);
    if (n > 0) return n;
    ring_command();
    uint32_t seen = about_to_wait();
    n = mz_ring_put(&wo.link->to_command, from, size);
    if (n == 0 && !must_not_wait()) wait_for_bell(seen);
    wo.link->waiting = 0;
    return n;
}

/* Take bytes from the ring, and wake the command if it waits for space. The fence makes sure that either the
 * command sees the space before it sleeps, or we see `more`. */
static size_t get_there(uint8_t *to, size_t size)
{
    size_t n = mz_ring_get(&wo.link->to_worker, to, size);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (n > 0 && wo.link->more) ring_command();
    return n;
}

/* Spin briefly before sleeping. A hypervisor may give away an idle processor, and the kernel may wake this
 * worker on a processor where another worker runs. Both were measured to cost a kernel tick or more.
 * sched_yield lets other processes have the processor. */
static size_t get_soon(uint8_t *to, size_t size)
{
    size_t n = get_there(to, size);
    while (n == 0 && wo.common->spare && mz_ticks() - wo.waiting_since < SOON && !told_to_stop()) {
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
    wo.link->waiting = 0;
    return n;
}

static bool put(const uint8_t *from, size_t size)
{
    for (size_t n = 0; size > 0; from += n, size -= n)
        if (!(n = put_some(from, size)) && must_not_wait()) return false;
    return true;
}

static bool get(uint8_t *to, size_t size)
{
    for (size_t n = 0; size > 0; to += n, size -= n)
        if (!(n = get_some(to, size)) && told_to_stop()) return false;
    return true;
}

/* Receive the next message. Return false if the worker has to stop. */
static bool receive(struct mz_message *m)
{
    uint32_t length;
    mz_message_clear(m);
    wo.waiting_since = mz_ticks();
    if (!get((uint8_t *)&length, sizeof length)) return false;
    MZ_ASSERT(length <= m->capacity);
    if (!get(m->data, length)) return false;
    m->count = length;
    return true;
}

/* ---- threads ---- */

/* In a cluster, rank 0 hands out slots: ask it, once for each thread. */
static int ask_for_slot(uint32_t name)
{
    int slot = mz_common_known_slot(wo.common, name);
    if (slot) return slot;
    __atomic_store_n(&wo.link->slot, name, __ATOMIC_RELEASE);
    ring_command();
    while (__atomic_load_n(&wo.link->slot, __ATOMIC_ACQUIRE) == name) {
        uint32_t seen = about_to_wait();
        if (told_to_stop()) mz_worker_stop();
        if (wo.link->slot == name) wait_for_bell(seen);
        wo.link->waiting = 0;
    }
    return mz_common_known_slot(wo.common, name);
}

int mz_worker_slot(int parent, unsigned n)
{
    uint32_t name = ((uint32_t)parent << 8 | n) + 1;
    return wo.common->asks ? ask_for_slot(name) : mz_common_slot(wo.common, name);
}

/* ---- what the engine asks for ---- */

/* Updates can wait a little: do not wake the command for each of them. */
static void ring_sometimes(void)
{
    if (wo.unheard && mz_ticks() - wo.rung >= QUIET) ring_command();
}

/* Has the worker reached a limit? Then it gives its work back, so that a checkpoint can keep it. The worker
 * must stop early enough: one execution still needs memory, and work takes more memory on its way to the
 * checkpoint. A node of a wakeup tree has 24 bytes here, and about 220 in the balancer's tree and in
 * messages. */
static bool is_enough(void)
{
    const struct mz_options_block *o = &rt.channel->options;
    if (o->max_executions && mz_worker_executions() >= o->max_executions)
        wo.enough = MZ_END_EXECUTIONS;
    else if (o->memory_limit && (mz_explore_memory(rt.x) > o->memory_limit - o->memory_limit / 8 ||
                                 mz_explore_trees(rt.x) > o->memory_limit / KEPT))
        wo.enough = MZ_END_MEMORY;
    return wo.enough != MZ_END_RUNNING;
}

static enum mz_share_wish wish(void *system)
{
    uint32_t w = wo.link->wish;
    (void)system;
    ring_sometimes();
    if (mz_unlikely(rt.channel->options.keep) && is_enough()) return MZ_SHARE_GIVE_ALL;
    if (mz_likely(w == MZ_SHARE_KEEP)) return MZ_SHARE_KEEP;
    if (w == MZ_SHARE_GIVE && mz_ticks() - wo.given < LEAST && rt.channel->options.shared < 2)
        return MZ_SHARE_KEEP;
    return (enum mz_share_wish)w;
}

static void send(void *system, const struct mz_message *m)
{
    uint32_t length = (uint32_t)m->count, kind = *(const uint32_t *)(const void *)m->data;
    (void)system;
    if (kind == MZ_SHARE_SPLIT || kind == MZ_SHARE_RETURN) {
        if (rt.channel->options.shared < 2) wo.link->wish = MZ_SHARE_KEEP;
        wo.given = mz_ticks();
    }
    if (!put((const uint8_t *)&length, sizeof length) || !put(m->data, m->count)) mz_worker_stop();
    wo.unheard = true;
    if (kind != MZ_SHARE_UPDATE) ring_command();
}

static bool listen(void *system, struct mz_message *reply, bool wait)
{
    (void)system;
    ring_sometimes();
    if (!wait && !mz_ring_holds(&wo.link->to_worker)) return false;
    if (wo.unheard && wait) ring_command();
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
    mz_awaits_put(m);
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
    mz_awaits_get(m);
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
                                                   .room = ROOM,
                                                   .finished = mz_facts_table,
                                                   .tell_facts = mz_facts_tell,
                                                   .learn_fact = mz_facts_learn,
                                                   .is_stale = mz_facts_are_stale,
                                                   .settle = mz_facts_settle};

/* ---- the life of a worker ---- */

void mz_worker_init(void)
{
    wo.link = (struct mz_link *)((char *)rt.channel + rt.channel->link_offset);
    wo.common = (struct mz_common *)((char *)rt.channel + rt.channel->common_offset);
    if (!rt.shared) return;
    mz_layout_init();
    wake_command(); /* always: the command does not check for a new layout before it sleeps */
    wo.started = mz_ticks();
    wo.in = (struct mz_message){.data = mz_region_reserve(ROOM), .capacity = ROOM};
    MZ_ASSERT(wo.in.data != NULL);
}

/* Return the number of executions of all workers, for a sample of walks. Only for searches that limit them. */
uint64_t mz_worker_executions(void)
{
    const struct mz_sample *sample = mz_explore_sample(rt.x);
    const struct mz_counters *c = mz_explore_counters(rt.x);
    uint64_t now = sample ? sample->walks : c->executions + c->revisited, before = wo.counted;
    wo.counted = now;
    return __atomic_add_fetch(&wo.common->executions, now - before, __ATOMIC_RELAXED);
}

_Noreturn void mz_worker_stop(void)
{
    rt.channel->end = MZ_END_TIME;
    mz_quit(0);
}

void mz_worker_leaves(void)
{
    if (!rt.shared || !wo.common) return;
    wo.link->leaves = 1;
    wake_command();
}

enum mz_end mz_worker_enough(void) { return wo.enough == MZ_END_RUNNING ? MZ_END_COMPLETE : wo.enough; }

/* Receive the next task. Return false if there is none left. Replies to questions about the task before may
 * still come first. */
bool mz_worker_task(void)
{
    uint64_t before = mz_ticks();
    bool some;
    rt.channel->analysing = 1;
    for (;;) {
        some = receive(&wo.in);
        if (!some || *(const uint32_t *)(const void *)wo.in.data != MZ_SHARE_REPLY) break;
        mz_get(&wo.in);
        mz_explore_learn(rt.x, &wo.in);
    }
    wo.given = mz_ticks();
    wo.link->idle += wo.given - before;
    wo.link->alive = wo.given - wo.started;
    if (!wo.agreed) mz_layout_agree();
    wo.agreed = true;
    if (some && !mz_explore_task(rt.x, &wo.in)) MZ_BUG("the worker cannot read its task");
    rt.channel->analysing = 0;
    return some;
}
