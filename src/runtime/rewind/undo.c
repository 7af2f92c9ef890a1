/* Going back to an earlier node without running the program again. For executions.c, schedule.c and fiber.c.
 *
 * To try another branch at node k, the program must be in the state that it had there. Running it again from
 * the start costs all the steps before k. This file undoes the steps after k instead. A log keeps the old
 * bytes of everything that a step changes. A mark for every node says how long the log was there. To go back,
 * copy the old bytes to their addresses, from the end of the log down to the mark.
 *
 * What a step can change, and how it gets into the log:
 *
 *   the stack and registers of a thread   when the thread goes on for the first time in a step
 *                                         (mz_undo_stack). The registers are on its stack, from the stack
 *                                         pointer up. Writes of other threads to the stack are program
 *                                         memory (stack_mirrors.c)
 *   program memory                        undo: the hooks log it before the write (mz_keep_program). Exact if
 *                                         all writes have hooks: imports.c decides by what the program calls.
 *                                         checkpoint: at every node, all pages that were ever written and the
 *                                         heap are compared with a copy (the mirror). Always exact. Of a
 *                                         large heap, only the pages that the kernel has seen written
 *                                         (written.c)
 *   the runtime's data of threads         a thread that goes on: with its stack. A thread that does not run:
 *                                         when the code that changes it says so (mz_undo_thread,
 *                                         mz_undo_joined). All threads, if the operation may change other
 *                                         threads (mz_undo_step)
 *   the runtime's other data of an        a few words at every node; only those of the node to which the
 *   execution                             search goes back matter. For the rest, the code that changes it
 *                                         calls mz_keep before
 *   the engine, the C11 order             have their own journals
 *   the kernel's state                    cannot be undone: a step that changes it is a barrier. The search
 *                                         reaches nodes before it by running again (mz_undo_barrier)
 *
 * Invariants
 *  U1  While rt.undo is set, marks[f] .. marks[depth] are valid for f = the floor. Undoing the log down to
 *      marks[k] restores all of the above to what it was at node k, where no thread runs.
 *  U2  If there are mirrors (checkpoint), they equal at every node the memory that they mirror. The runtime's
 *      data of threads is then compared with its mirror, and not logged before it changes.
 *  U3  An execution that goes on from a node after going back has the same number (rt.execution) as before,
 *      so data that is tagged with the number stays valid.
 *
 * Nothing below the stack pointer is alive, but later calls have uninitialised variables there. Going back
 * must give them the same values as running again. So the part of a stack that is clean at the start
 * (mz_spin_clean_size) is kept whole. */
#include "base/region.h"
#include "runtime/memory/memory.h"
#include "runtime/rewind/rewind.h"
#include "runtime/rewind/undo_log.h"
#include "runtime/state/hash.h"

#define CHUNK  32u
#define PAGE   4096u
#define HEAD   offsetof(struct mz_thread, held)
#define JOINED 16u /* bytes of a thread from `woken_by` on, about its joiner */
#define REST   (offsetof(struct mz_run, exit_place) - offsetof(struct mz_run, interrupted))

void mz_undo_init(void)
{
    uint64_t steps = rt.channel->options.max_steps;
    if (steps > (1u << 24)) steps = 1u << 24;
    un.log = mz_region_reserve(MZ_LOG_ROOM);
    un.marks = mz_region_reserve((size_t)(steps + 4) * sizeof *un.marks);
    un.run = mz_region_reserve(sizeof *un.run);
    un.view = mz_region_reserve(sizeof *un.view);
    un.tls = mz_region_reserve(rt.tls_size * MZ_SLOTS + 1);
    un.words = mz_region_reserve(MZ_LOG_WORDS * sizeof *un.words);
    un.hashed = mz_region_reserve(MZ_LOG_WORDS * sizeof *un.hashed);
    MZ_ASSERT(un.log && un.marks && un.run && un.view && un.tls && un.words && un.hashed);
    un.stamp = 1;
}

/* ---- threads ---- */

#define PENDING sizeof(struct mz_pending)

/* Bytes of a thread in the log, without its stack: state, pending operation, storage. */
static size_t thread_size(void) { return HEAD + PENDING + (rt.switch_fs ? rt.tls_size : 0); }

static char *tls_of(int slot) { return (char *)rt.slots[slot].fs - rt.tls_size; }

static void log_thread(int slot)
{
    if (mz_unlikely(un.count > MZ_LOG_LIMIT) && mz_log_overflows(thread_size())) return;
    char *to = mz_log_push(un.last_thread[slot], thread_size(), MZ_LOG_THREAD, slot, 0);
    un.last_thread[slot] = un.count;
    mz_log_copy_words(to, &rt.run.threads[slot], HEAD);
    mz_log_copy_words(to + HEAD, &rt.view.pending[slot], PENDING);
    if (rt.switch_fs) mz_raw_memcpy(to + HEAD + PENDING, tls_of(slot), rt.tls_size);
}

static void thread_back(int slot, const char *from)
{
    mz_log_copy_words(&rt.run.threads[slot], from, HEAD);
    mz_log_copy_words(&rt.view.pending[slot], from + HEAD, PENDING);
    if (rt.switch_fs) mz_raw_memcpy(tls_of(slot), from + HEAD + PENDING, rt.tls_size);
}

/* The state of the thread is about to change, although it does not run. */
void mz_undo_thread(int slot)
{
    if (!rt.undo || un.others & mz_slot_bit(slot)) return;
    un.others |= mz_slot_bit(slot);
    if (un.mirrors || un.off || un.floor == UINT32_MAX || un.saved & mz_slot_bit(slot)) return;
    log_thread(slot);
}

/* Only the fields of the thread about its joiner are about to change. While states are hashed, that is a
 * change like others. */
void mz_undo_joined(int slot)
{
    if (!rt.undo || (un.saved | un.others) & mz_slot_bit(slot)) return;
    _Static_assert(offsetof(struct mz_thread, woken_by) % 8 == 0, "it can be kept");
    _Static_assert(offsetof(struct mz_thread, result) == offsetof(struct mz_thread, woken_by) + JOINED,
                   "all of it is kept");
    if (un.mirrors || rt.hashing)
        mz_undo_thread(slot);
    else
        mz_undo_keep(&rt.run.threads[slot].woken_by, JOINED);
}

/* Only the result of the thread is about to change. */
void mz_undo_result(int slot)
{
    if (!rt.undo || (un.saved | un.others) & mz_slot_bit(slot)) return;
    if (un.mirrors || rt.hashing)
        mz_undo_thread(slot);
    else
        mz_undo_keep(&rt.run.threads[slot].result, sizeof rt.run.threads[slot].result);
}

#define REST_SIZE (REST + offsetof(struct mz_view, pending))

static void log_rest(void)
{
    size_t tls = rt.switch_fs ? 0 : rt.tls_size;
    char *to = mz_log_push(0, REST_SIZE + tls, MZ_LOG_REST_OF_RUN, 0, 0);
    mz_log_copy_words(to, rt.run.interrupted, REST);
    mz_log_copy_words(to + REST, &rt.view, REST_SIZE - REST);
    if (tls) mz_raw_memcpy(to + REST_SIZE, tls_of(0), tls);
}

static void rest_back(const char *from, size_t size)
{
    mz_log_copy_words(rt.run.interrupted, from, REST);
    mz_log_copy_words(&rt.view, from + REST, REST_SIZE - REST);
    if (size > REST_SIZE) mz_raw_memcpy(tls_of(0), from + REST_SIZE, size - REST_SIZE);
}

static bool compare(void *now, void *mirror, size_t size);

void mz_undo_stack(int slot)
{
    const struct mz_slot *s = &rt.slots[slot];
    if (un.saved & mz_slot_bit(slot)) return;
    if (!un.mirrors) mz_undo_thread(slot);
    un.saved |= mz_slot_bit(slot);
    if (mz_unlikely(un.floor == UINT32_MAX || un.off)) return;
    const char *clean = s->stack_high - (rt.stateful ? 0 : rt.up.clean_size()), *sp = s->sp,
               *from = sp < clean ? sp : clean;
    if (rt.undo == MZ_UNDO_PAGES) mz_stack_compare(slot, compare); /* other threads may have written to it */
    if (mz_unlikely(rt.auditing)) mz_stack_compare(slot, mz_audit_stack);
    size_t size = (size_t)(s->stack_high - from);
    if (mz_unlikely(un.count + size > MZ_LOG_LIMIT) && mz_log_overflows(size)) return;
    char *to = mz_log_push((uintptr_t)from, size, MZ_LOG_STACK, slot, (uintptr_t)sp);
    un.last_stack[slot] = un.count;
    mz_raw_memcpy(to, from, size);
    mz_fiber_keep(slot);
    if (mz_unlikely(rt.channel->options.poke_dead) && rt.hashing) rt.up.stack_poke(slot);
}

/* ---- mirrors ---- */

static inline bool differ(const char *a, const char *b)
{
    const uint64_t *p = (const uint64_t *)(const void *)a, *q = (const uint64_t *)(const void *)b;
    return ((p[0] ^ q[0]) | (p[1] ^ q[1]) | (p[2] ^ q[2]) | (p[3] ^ q[3])) != 0;
}

/* Log what differs from the mirror, and update the mirror. `size` is a multiple of 8. Return true if
 * something differed. */
static bool compare(void *now, void *mirror, size_t size)
{
    char *a = now, *b = mirror;
    size_t i = 0, before = un.count;
    for (; i + CHUNK <= size; i += CHUNK) {
        if (mz_likely(!differ(a + i, b + i))) continue;
        mz_raw_memcpy(mz_log_push((uintptr_t)(a + i), CHUNK, MZ_LOG_MIRRORED, 0, (uintptr_t)(b + i)), b + i,
                      CHUNK);
        mz_raw_memcpy(b + i, a + i, CHUNK);
    }
    for (; i < size; i += 8) {
        if (*(uint64_t *)(void *)(a + i) == *(uint64_t *)(void *)(b + i)) continue;
        mz_log_copy(mz_log_push((uintptr_t)(a + i), 8, MZ_LOG_MIRRORED, 0, (uintptr_t)(b + i)), b + i, 8);
        mz_log_copy(b + i, a + i, 8);
    }
    return un.count != before;
}

static void compare_memory(void *now, void *mirror, size_t size) { compare(now, mirror, size); }

/* The same for memory that is part of the program's state. Most pages have not changed: they are skipped as a
 * whole. */
static void compare_hashed(void *now, void *mirror, size_t size)
{
    const char *first = now, *copy = mirror;
    for (size_t done = 0, part; done < size; done += part) {
        part = size - done < PAGE ? size - done : PAGE;
        const uint64_t *a = (const void *)(first + done), *b = (const void *)(copy + done);
        if (!mz_rewind_room.audit.equal(a, b, part)) continue;
        for (size_t i = 0; i < part / 8; i++) {
            if (mz_likely(a[i] == b[i])) continue;
            mz_state_word((uintptr_t)&a[i] + 1, b[i], false); /* odd: differs from the key of a word */
            mz_state_word((uintptr_t)&a[i] + 1, a[i], true);
        }
        compare((char *)now + done, (char *)mirror + done, part);
    }
}

static bool compare_thread(uint32_t s)
{
    bool changed = compare(&rt.run.threads[s], &un.run->threads[s], HEAD);
    changed |= compare(&rt.view.pending[s], &un.view->pending[s], sizeof *rt.view.pending);
    if (!rt.switch_fs) return changed;
    char *tls = tls_of((int)s), *mirror = un.tls + s * rt.tls_size;
    if (rt.undo == MZ_UNDO_PAGES && rt.hashing) compare_hashed(tls, mirror, rt.tls_size);
    return changed | compare(tls, mirror, rt.tls_size);
}

static uint64_t known_slots(void)
{
    return rt.slots_known < 64 ? mz_slot_bit((int)rt.slots_known) - 1 : ~(uint64_t)0;
}

/* Return the threads whose state may have changed since the last node. If the operation changes only its own
 * thread, these are the threads that ran or were announced; else all. */
static uint64_t changed_threads(void)
{
    uint32_t k = rt.path->depth;
    bool own = k && mz_op_in(MZ_OPS_SIMPLE, rt.path->events[k - 1].op);
    if (rt.undo == MZ_UNDO_PAGES) own = false; /* writes to variables of other threads are not announced */
    return own ? (un.saved | un.others | un.touched) & known_slots() : known_slots();
}

/* Compare these threads and all other memory with the mirrors. Return the threads whose state has changed. */
static uint64_t compare_all(uint64_t threads)
{
    uint64_t changed = un.saved | un.others | un.touched;
    for (; threads; threads &= threads - 1)
        if (compare_thread((uint32_t)__builtin_ctzll(threads))) changed |= threads & -threads;
    compare(rt.run.interrupted, un.run->interrupted, REST);
    compare(&rt.view, un.view, offsetof(struct mz_view, pending));
    if (!rt.switch_fs) compare(tls_of(0), un.tls, rt.tls_size);
    if (rt.undo != MZ_UNDO_PAGES) return changed;
    mz_snapshot_compare(rt.hashing ? compare_hashed : compare_memory);
    mz_heap_compare(rt.hashing ? compare_hashed : compare_memory);
    for (uint64_t left = known_slots() & ~un.saved; left; left &= left - 1)
        if (mz_stack_compare(__builtin_ctzll(left), compare)) changed |= left & -left;
    return changed;
}

/* Update the mirrors of the stacks of these threads. */
static void mirror_stacks(uint64_t threads, const char *frame)
{
    if (rt.undo != MZ_UNDO_PAGES) return;
    for (; threads; threads &= threads - 1) {
        int s = __builtin_ctzll(threads);
        mz_stack_mirror(s, frame && s == rt.self ? frame : rt.slots[s].sp);
    }
}

static void fill_mirrors(void)
{
    mz_raw_memcpy(un.run, &rt.run, sizeof rt.run);
    mz_raw_memcpy(un.view, &rt.view, sizeof rt.view);
    for (uint32_t s = 0; s < MZ_SLOTS; s++)
        mz_raw_memcpy(un.tls + s * rt.tls_size, tls_of((int)s), rt.tls_size);
    if (rt.undo != MZ_UNDO_PAGES) return;
    for (int s = 0; s < MZ_SLOTS; s++) mz_stack_forget(s);
    mz_snapshot_mirror();
    mz_heap_mirror();
}

/* ---- checking that everything is undone (make OPT='-O2 -g -DMZ_CHECK_UNDO') ---- */

#ifdef MZ_CHECK_UNDO
struct whole {
    struct mz_run run;
    struct mz_view view;
};

static void check_keep(uint32_t k)
{
    if (!un.wholes) un.wholes = mz_region_reserve(((size_t)1 << 20) * sizeof *un.wholes);
    mz_raw_memcpy(&un.wholes[k].run, &rt.run, sizeof rt.run);
    mz_raw_memcpy(&un.wholes[k].view, &rt.view, sizeof rt.view);
}

static void check_back(uint32_t k)
{
    struct whole *was = &un.wholes[k];
    for (uint32_t t = 0; t < rt.slots_known; t++) {
        was->view.pending[t].access = rt.view.pending[t].access; /* computed again when it is needed */
        was->view.pending[t].choices = rt.view.pending[t].choices;
        MZ_ASSERT(!mz_raw_memcmp(&was->run.threads[t], &rt.run.threads[t], HEAD));
        MZ_ASSERT(!mz_raw_memcmp(&was->view.pending[t], &rt.view.pending[t], PENDING));
    }
    MZ_ASSERT(!mz_raw_memcmp(was->run.interrupted, rt.run.interrupted, REST));
    MZ_ASSERT(!mz_raw_memcmp(&was->view, &rt.view, offsetof(struct mz_view, pending)));
}
#else
static void check_keep(uint32_t k) { (void)k; }
static void check_back(uint32_t k) { (void)k; }
#endif

/* ---- the life of a log ---- */

/* An execution begins from the start. */
void mz_undo_begin(void)
{
    mz_log_empty();
    un.floor = 0;
    un.saved = un.others = un.touched = 0;
    un.stamp++;
    un.word_count = un.hashed_count = 0;
    un.off = false;
    un.whole = true;
    un.mirrors = rt.undo == MZ_UNDO_PAGES;
    if (rt.hashing) rt.up.state_begin();
    if (rt.undo && un.mirrors) fill_mirrors();
    mz_audit_begin();
}

static void next_step_begins(uint32_t k)
{
    check_keep(k);
    un.marks[k] = un.count;
    un.small_end = un.count + MZ_LOG_SMALL;
    un.saved = un.others = un.touched = 0;
    un.stamp++;
    un.word_count = un.hashed_count = 0;
}

/* Is the compared memory too large for the log? All of it may change in one step. */
static bool too_large(void)
{
    return rt.undo == MZ_UNDO_PAGES && mz_snapshot_size() + mz_heap_size() > MZ_LOG_ROOM / 8;
}

/* Has the step changed this thread, which did not run? */
static bool is_changed(int slot)
{
    const char *before = un.log + un.last_thread[slot] - 2 * sizeof(uint64_t) - thread_size();
    return mz_raw_memcmp(before, &rt.run.threads[slot], HEAD) ||
           mz_raw_memcmp(before + HEAD, &rt.view.pending[slot], PENDING);
}

static uint64_t logged_and_changed(void)
{
    uint64_t changed = (un.saved | un.touched) & known_slots();
    for (uint64_t t = un.others & known_slots() & ~changed; t; t &= t - 1)
        if (un.floor == UINT32_MAX || is_changed(__builtin_ctzll(t))) changed |= t & -t;
    return changed;
}

/* Check that all changes of the step were announced. `frame`: where the stack of the running thread ends. */
static void audit(const char *frame)
{
    for (uint64_t left = known_slots() & ~un.saved; left; left &= left - 1)
        mz_stack_compare(__builtin_ctzll(left), mz_audit_stack);
    for (uint64_t ran = un.saved & known_slots(); ran; ran &= ran - 1) {
        int s = __builtin_ctzll(ran);
        mz_stack_mirror(s, s == rt.self ? frame : rt.slots[s].sp);
    }
    mz_audit_node(un.saved);
}

/* The execution is at a node: no thread runs, and the engine is about to be asked for the next step. */
void mz_undo_node(void)
{
    uint32_t k = rt.path->depth;
    uint64_t changed = 0;
    if (mz_unlikely(too_large())) mz_undo_give_up();
    if (mz_unlikely(un.off)) return;
    if (mz_unlikely(rt.hashing)) mz_log_settle_words();
    if (mz_unlikely(rt.hashing) && !un.mirrors) changed = logged_and_changed();
    if (mz_unlikely(un.floor == UINT32_MAX || un.count > MZ_LOG_LIMIT)) {
        mz_log_empty();
        un.floor = k;
        un.whole = false;
    }
    if (mz_unlikely(un.mirrors)) {
        changed = compare_all(changed_threads());
        mirror_stacks(un.saved & known_slots(),
                      *(const char **)MZ_FRAME() + 16); /* above the frame of dispatch_reversibly */
    }
    if (mz_unlikely(rt.auditing)) audit(*(const char **)MZ_FRAME() + 16);
    if (mz_unlikely(rt.hashing)) rt.up.state_node(changed & known_slots());
    if (mz_unlikely(rt.hashing) && !rt.stateful) rt.up.state_sample();
    next_step_begins(k);
    if (mz_likely(!un.mirrors)) log_rest();
}

/* The thread is about to perform its pending operation: log the threads that the operation may change. */
void mz_undo_step(int thread)
{
    bool gives_up = rt.view.waiting >> thread & 1; /* its operation is TIMEOUT */
    if (mz_likely(un.mirrors || (mz_op_in(MZ_OPS_SIMPLE, rt.view.pending[thread].op) && !gives_up))) return;
    for (uint64_t t = known_slots(); t; t &= t - 1) mz_undo_thread(__builtin_ctzll(t));
}

/* Do not use the log: the next execution runs from the start. */
void mz_undo_forget(void) { un.off = true; }

/* This step has an effect that cannot be undone. */
void mz_undo_barrier(void)
{
    if (rt.undo && un.floor < rt.path->depth) un.floor = rt.path->depth;
}

/* The program has memory that the log does not cover. Stop logging; a stateful algorithm cannot go on. */
void mz_undo_give_up(void)
{
    if (rt.stateful)
        mz_unsupported("a stateful algorithm for a program with mappings or very much memory",
                       "use --algorithm=optimal");
    mz_audit_stop();
    un.off = true;
}

bool mz_undo_reaches(uint32_t k) { return rt.undo && !un.off && un.floor <= k && !too_large(); }

/* Undo the last entry of the log, which ends at `count` and has this tag. Return where the entry begins. The search
 * goes back to a node; `mark` is where the entries of its step begin. */
static size_t take_back(size_t count, uint64_t tag, size_t mark)
{
    enum mz_log_kind kind = (enum mz_log_kind)(tag % MZ_LOG_KINDS);
    size_t size = tag >> 16;
    int slot = (int)(tag >> 8 & 0xff);
    const uint64_t *end = (const uint64_t *)(const void *)(un.log + count) - 2;
    void *at = (void *)(uintptr_t)end[0];
    const char *bytes =
        (const char *)(end - MZ_LOG_HAS_MIRROR(kind) - MZ_LOG_HAS_BEFORE(kind)) - ((size + 7) & ~(size_t)7);
    switch (kind) {
    case MZ_LOG_THREAD: /* if there is an older entry to undo, that one counts */
        un.last_thread[slot] = end[0];
        if (end[0] <= mark) thread_back(slot, bytes);
        break;
    case MZ_LOG_REST_OF_RUN: /* each node has such an entry: only the one of the target node counts */
        if (bytes == un.log + mark) rest_back(bytes, size);
        break;
    case MZ_LOG_STACK: /* likewise */
        un.last_stack[slot] = end[-2];
        if (end[-2] > mark) break;
        mz_raw_memcpy(at, bytes, size);
        rt.slots[slot].sp = (void *)(uintptr_t)end[-1];
        break;
    case MZ_LOG_MIRRORED:
        mz_log_copy(at, bytes, size);
        mz_log_copy((void *)(uintptr_t)end[-1], bytes, size);
        break;
    default:
        mz_log_copy(at, bytes, size);
    }
    return (size_t)(bytes - un.log);
}

/* Undo the log down to this mark. */
static void take_back_to(size_t mark)
{
    const char *log = un.log;
    size_t count = un.count;
    while (count > mark) {
        uint64_t tag = *(const uint64_t *)(const void *)(log + count - 8);
        if (mz_likely(tag % MZ_LOG_KINDS == MZ_LOG_WORD)) {
            *(uint64_t *)tag = *(const uint64_t *)(const void *)(log + count - 16);
            count -= 16;
        } else {
            count = take_back(count, tag, mark);
        }
    }
    un.count = count;
}

void mz_undo_to(uint32_t k)
{
    mz_audit_stop();
    un.others = ~(uint64_t)0; /* anything may have changed since the last node */
    if (un.mirrors) compare_all(changed_threads());
    take_back_to(un.marks[k]);
    if (un.mirrors) mz_heap_cut();
    mirror_stacks(known_slots(), NULL);
    if (rt.hashing) rt.up.state_back(k);
    check_back(k);
    next_step_begins(k);
    if (!un.mirrors) log_rest();
}

bool mz_undo_all(void)
{
    mz_audit_stop();
    if (rt.undo != MZ_UNDO_WRITES || un.mirrors || un.off || un.floor || !un.whole) return false;
    take_back_to(0);
    un.off = true;
    return true;
}
