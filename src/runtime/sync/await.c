/* mz_await: wait until a condition over several atomic variables holds.
 *
 * The condition is a function of the program. It may load atomic variables, and read memory that does not change while its
 * thread waits. The runtime evaluates it
 *   - for each thread that waits, whenever a thread gives way (mz_await_look): the await is enabled while the condition
 *     holds, so it may become disabled again;
 *   - for states that are only imagined, when the engine looks for races (mz_await_holds, trace/await.c): loads get the
 *     values that the variables would have if some events had not happened;
 *   - when the await happens. Only then the loads synchronize, and are checked for data races.
 *
 * The first two ways run aside (mz_fiber_call), with hooks off: they are no part of the execution. In the third, the thread
 * calls the function as if in an atomic section.
 *
 * The object of an await is the set of the variables that its condition has ever read, with this argument. A condition like
 * x && y reads y only sometimes. So whenever the set grows, the search starts over; it ends, because the sets never shrink.
 * Beyond MZ_AWAITED variables, or MZ_AWAIT_SITES conditions with arguments, an await reads all memory.
 *
 * A thread that waits has the condition in wait_object, and the argument in wait_mutex. */
#include "runtime/core/operation.h"
#include "runtime/loops/loops.h"
#include "runtime/memory/memory.h"
#include "runtime/sync/room.h"
#include "runtime/sync/sync.h"

#define aw mz_sync_room.await

typedef int condition_fn(void *);

/* ---- what conditions read ---- */

static struct mz_await_site *site_of(uint64_t condition, uint64_t argument)
{
    for (unsigned i = 0; i < aw.site_count; i++)
        if (aw.sites[i].condition == condition && aw.sites[i].argument == argument) return &aw.sites[i];
    if (aw.site_count == MZ_AWAIT_SITES) return &aw.others;
    aw.sites[aw.site_count] = (struct mz_await_site){condition, argument, 0};
    return &aw.sites[aw.site_count++];
}

static bool is_kept(const struct mz_await_site *site) { return site != &aw.others; }

static uint64_t key_of(const struct mz_await_site *site)
{
    return mz_await_key(is_kept(site) ? site->members : MZ_AWAITS_ALL);
}

/* The number of an awaited object; MZ_AWAITED if there is no room for it. */
static unsigned number_of(uint64_t address, unsigned size)
{
    for (unsigned i = 0; i < aw.object_count; i++)
        if (aw.objects[i].address == address && aw.objects[i].size == size) return i;
    if (aw.object_count == MZ_AWAITED) return MZ_AWAITED;
    aw.objects[aw.object_count].address = address;
    aw.objects[aw.object_count].size = (uint8_t)size;
    mz_explore_awaited(rt.x, address, size, aw.object_count);
    return aw.object_count++;
}

static void note(uint64_t address, unsigned size)
{
    uint32_t member = UINT32_C(1) << number_of(address, size);
    if (!is_kept(aw.site) || aw.site->members & member) return;
    aw.site->members |= member;
    mz_explore_restart(rt.x);
}

/* The value that an atomic load of the condition gets. */
uint64_t mz_await_read(const volatile void *address, unsigned size)
{
    uint64_t value = 0, at = (uintptr_t)address;
    if (size > sizeof value) {
        aw.refused = true;
        return 0;
    }
    note(at, size);
    mz_raw_memcpy(&value, (const void *)at, size);
    for (uint32_t i = 0; i < aw.write_count; i++) {
        const struct mz_unwritten *w = &aw.writes[i];
        for (uint64_t a = w->key; a < w->key + w->size && w->size <= sizeof value; a++)
            if (a >= at && a < at + size)
                ((uint8_t *)&value)[a - at] = (uint8_t)(w->value >> 8 * (a - w->key));
        if (w->size > sizeof value && w->key < at + size && at < w->key + w->size) aw.refused = true;
    }
    return value;
}

void mz_await_refuse(void) { aw.refused = true; }

/* ---- evaluating ---- */

/* Does the condition of the thread hold, if these events had not happened? */
static bool evaluate(int slot, uint64_t condition, uint64_t argument, const struct mz_unwritten *writes,
                     uint32_t count)
{
    bool active = rt.active;
    aw.site = site_of(condition, argument);
    aw.writes = writes;
    aw.write_count = count;
    rt.active = false;
    rt.imagining = true;
    bool holds = mz_fiber_call(slot, (condition_fn *)condition, (void *)argument) != 0;
    rt.imagining = false;
    rt.active = active;
    return holds;
}

bool mz_await_holds(void *system, int thread, const struct mz_unwritten *writes, uint32_t count)
{
    const struct mz_thread *t = &rt.run.threads[thread];
    (void)system;
    bool holds = evaluate(thread, t->wait_object, (uintptr_t)t->wait_mutex, writes, count);
    if (aw.refused) mz_explore_restart(rt.x); /* the next thread that gives way reports it */
    return holds;
}

void mz_await_look(void)
{
    for (uint64_t left = rt.view.alive; left; left &= left - 1) {
        int slot = __builtin_ctzll(left);
        const struct mz_thread *t = &rt.run.threads[slot];
        if (rt.view.pending[slot].op != MZ_OP_AWAIT || t->state != MZ_THREAD_LOCKING) continue;
        mz_enable(mz_slot_bit(slot), evaluate(slot, t->wait_object, (uintptr_t)t->wait_mutex, NULL, 0));
    }
    if (aw.refused) mz_unsupported(MZ_ONLY_LOADS);
}

/* ---- the operation ---- */

MZ_EXPORT void mazurka_await(int (*condition)(void *), void *argument);
void mazurka_await(int (*condition)(void *), void *argument)
{
    struct mz_thread *t = &rt.run.threads[rt.self];
    if (!rt.active) {
        while (!condition(argument)) mz_sys(SYS_sched_yield);
        return;
    }
    if (rt.section == MZ_IN_CONDITION) rt.section = 0, mz_unsupported(MZ_ONLY_LOADS);
    if (rt.section || mz_explore_has_sections(rt.x)) rt.section = 0, mz_unsupported(MZ_AWAIT_OR_SECTION);
    rt.awaits = true;
    mz_rounds_look((uintptr_t)condition, MZ_PC(), MZ_FRAME());
    rt.hooks++;
    mz_before(MZ_PC());
    bool holds = evaluate(rt.self, (uintptr_t)condition, (uintptr_t)argument, NULL, 0);
    if (aw.refused) mz_unsupported(MZ_ONLY_LOADS);
    mz_post(MZ_OP_AWAIT, key_of(aw.site), MZ_READS, holds, MZ_PC());
    t->wait_object = (uintptr_t)condition;
    t->wait_mutex = argument;
    mz_dispatch();
    t->state = MZ_THREAD_RUNNABLE;
    mz_commit(MZ_READS, 0);
    t->wait_mutex = NULL;
    MZ_RECORD(MZ_OP_AWAIT, (uintptr_t)condition, 0, 0, 0, 0, 0, MZ_FRAME());
    rt.section = MZ_IN_CONDITION;
    holds = condition(argument) != 0;
    rt.section = 0;
    if (!holds)
        mz_unsupported("a condition of mz_await that is not the same when it is evaluated again",
                       "let it depend only on its argument and on memory");
}

/* ---- knowledge for other workers ---- */

void mz_awaits_put(struct mz_message *m)
{
    mz_put(m, aw.object_count);
    for (unsigned i = 0; i < aw.object_count; i++) {
        mz_put_long(m, mz_layout_out(aw.objects[i].address));
        mz_put(m, aw.objects[i].size);
    }
    mz_put(m, aw.site_count);
    for (unsigned i = 0; i < aw.site_count; i++) {
        mz_put_long(m, mz_layout_out(aw.sites[i].condition));
        mz_put_long(m, mz_layout_out_known(aw.sites[i].argument));
        mz_put(m, aw.sites[i].members);
    }
}

void mz_awaits_get(struct mz_message *m)
{
    uint32_t n = mz_get_count(m, 12);
    MZ_ASSERT(n <= MZ_AWAITED);
    for (aw.object_count = 0; aw.object_count < n; aw.object_count++) {
        aw.objects[aw.object_count].address = mz_layout_in(mz_get_long(m));
        aw.objects[aw.object_count].size = (uint8_t)mz_get(m);
        mz_explore_awaited(rt.x, aw.objects[aw.object_count].address, aw.objects[aw.object_count].size,
                           aw.object_count);
    }
    n = mz_get_count(m, 20);
    MZ_ASSERT(n <= MZ_AWAIT_SITES);
    for (aw.site_count = 0; aw.site_count < n; aw.site_count++) {
        uint64_t condition = mz_layout_in(mz_get_long(m)), argument = mz_layout_in_known(mz_get_long(m));
        aw.sites[aw.site_count] = (struct mz_await_site){condition, argument, mz_get(m)};
    }
}
