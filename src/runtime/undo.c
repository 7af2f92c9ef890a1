/* Going back without running again.
 *
 * To try another branch at node k the program must be in the state it had there. Running it again from the
 * start costs all the steps before k; this file takes back the steps after it instead. Whatever a step
 * changes is kept in a log, as it was before; a mark for every node says how long the log was there; going
 * back is copying old bytes to where they were, from the end of the log down to the mark.
 *
 * What a step can change, and how it comes to the log:
 *
 *   the stack and registers of a thread   when the thread is continued for the first time in a step
 *                                         (mz_undo_stack): they are on its stack, from the stack pointer up;
 *                                         what others write there is program memory (stack_mirrors.c)
 *   program memory                        undo: before the write, by the hooks (mz_keep_program). Exact if
 *                                         nobody else writes: start.c decides by what the program calls.
 *                                         checkpoint: at every node all pages that were ever written and the
 *                                         heap are compared with a copy (the mirror). Exact always.
 *   what the runtime keeps of an          threads and their pending operations: with the stack when one is
 *   execution                             continued; those that do not run when somebody says so
 *                                         (mz_undo_thread, mz_undo_joined), or all if the operation may
 *                                         change others (mz_undo_step). A few words at every node, of
 *                                         which only those of the node gone back to matter. The rest says
 *                                         so before it is changed (mz_keep)
 *   the engine, the C11 order             have a journal of their own
 *   what the kernel keeps                 cannot be taken back: a step that changes it is a barrier, nodes
 *                                         before it are reached by running again (mz_undo_barrier)
 *
 * Invariants
 *  U1  While rt.undo is set, marks[f] .. marks[depth] are valid for f = the floor, and taking the log back
 *      to marks[k] restores all of the above to what it was at node k, where no thread runs.
 *  U2  Where there are mirrors (checkpoint) they equal at a node what they mirror, and what the runtime keeps
 *      of threads is compared with its mirror rather than logged before it changes.
 *  U3  Executions that go on from a node after going back have the same number (rt.execution): what is
 *      tagged with it stays valid.
 *
 * Below the stack pointer nothing is alive, but uninitialised variables will be there again; so that going
 * back and running again cannot be told apart, the part of a stack that starts out clean is kept whole. */
#include "audit.h"
#include "liveness.h"
#include "state.h"

#include "../base/region.h"

#define LOG_ROOM  ((size_t)256 << 20)
#define LOG_LIMIT ((size_t)48 << 20) /* beyond this, what is oldest is given up */
#define CHUNK     32u
#define PAGE      4096u
#define HEAD      offsetof(struct mz_thread, held)
#define JOINED    16u /* bytes of a thread from `woken_by` on: who joins it, and has */
#define REST      (offsetof(struct mz_run, exit_place) - offsetof(struct mz_run, interrupted))

#define WORDS (1u << 20) /* half as many can a step write and be known not to have written before */

enum kind { BYTES, WORD, STACK, MIRRORED, THREAD, REST_OF_RUN };

struct entry { /* behind its bytes, which are a multiple of 8 */
    uint64_t at;
    uint32_t size;
    uint16_t kind;
    uint16_t slot;   /* STACK, THREAD */
    uint64_t mirror; /* MIRRORED */
};

static struct {
    char *log;
    size_t count;
    size_t *marks;
    uint32_t floor;  /* nodes from here on can be gone back to */
    uint64_t saved;  /* threads whose stack is in the log since the last node */
    uint64_t others; /* threads whose state has changed since, though they did not run */
    struct mz_view *view;
    struct mz_run *run;
    struct {
        uint64_t at, stamp;
    } * words; /* of program memory that are in the log since the last node: open addressing */
    uint64_t stamp;
    uint32_t word_count;
    uint64_t *hashed; /* those of them that belong to the sum of state.c */
    uint32_t hashed_count;
    char *tls;  /* rt.tls_size bytes for each slot */
    bool off;   /* not in this execution */
    bool whole; /* the log reaches back to before the first step */
    bool mirrors;
    uint64_t touched;        /* where states are told apart: threads whose stack others have written to */
    size_t logged[MZ_SLOTS]; /* where in the log a thread is, of those in `others` */
} un;

void mz_undo_init(void)
{
    uint64_t steps = rt.channel->options.max_steps;
    if (steps > (1u << 24)) steps = 1u << 24;
    un.log = mz_region_reserve(LOG_ROOM);
    un.marks = mz_region_reserve((size_t)(steps + 4) * sizeof *un.marks);
    un.run = mz_region_reserve(sizeof *un.run);
    un.view = mz_region_reserve(sizeof *un.view);
    un.tls = mz_region_reserve(rt.tls_size * MZ_SLOTS + 1);
    un.words = mz_region_reserve(WORDS * sizeof *un.words);
    un.hashed = mz_region_reserve(WORDS * sizeof *un.hashed);
    MZ_ASSERT(un.log && un.marks && un.run && un.view && un.tls && un.words && un.hashed);
    un.stamp = 1;
}

/* ---- writing the log ---- */

/* Room for so many bytes and what describes them; where the bytes go. */
static inline char *push(uint64_t at, size_t size, enum kind kind, int slot, uint64_t mirror)
{
    size_t room = (size + 7) & ~(size_t)7;
    MZ_ASSERT(un.count + room + sizeof(struct entry) <= LOG_ROOM);
    char *bytes = un.log + un.count;
    *(struct entry *)(void *)(bytes + room) =
        (struct entry){at, (uint32_t)size, (uint16_t)kind, (uint16_t)slot, mirror};
    un.count += room + sizeof(struct entry);
    return bytes;
}

static inline __attribute__((always_inline)) void copy_words(void *to, const void *from, size_t size)
{
    for (size_t i = 0; i < size / 8; i++) ((uint64_t *)to)[i] = ((const uint64_t *)from)[i];
}

static inline void copy(void *to, const void *from, size_t size)
{
    if (size == 4)
        *(uint32_t *)to = *(const uint32_t *)from;
    else if (size <= 32 && size % 8 == 0)
        copy_words(to, from, size);
    else
        mz_raw_memcpy(to, from, size);
}

static void settle_words(void);

/* A step that writes very much gives up what was before it: the log must not be full within one step. What it
 * has written so far is settled, and counts as new if it is written again. */
static __attribute__((noinline)) bool overflows(size_t size)
{
    if (un.count + size < LOG_ROOM / 2) return false;
    if (rt.hashing) settle_words();
    un.stamp++;
    un.word_count = 0;
    un.count = 0;
    un.floor = UINT32_MAX; /* until the next node */
    un.touched = ~(uint64_t)0;
    mz_audit_stop(); /* what was announced is forgotten */
    return size > LOG_ROOM / 4;
}

void mz_undo_keep(const volatile void *p, size_t size)
{
    if (mz_unlikely(un.floor == UINT32_MAX || un.off)) return;
    if (mz_unlikely(un.count + size > LOG_LIMIT) && overflows(size)) return;
    copy(push((uintptr_t)p, size, BYTES, 0, 0), (const void *)(uintptr_t)p, size);
}

/* Is the word new in this step? If very many are, all that follow count as new, and the state is like no
 * other. Neighbours in memory are neighbours in the table. */
static inline bool is_new(uint64_t at)
{
    uint32_t i = (uint32_t)((at >> 3) + (at >> 23) * 0x9e3779b9u) % WORDS;
    if (mz_unlikely(un.word_count >= WORDS / 2)) {
        if (rt.hashing && un.word_count++ == WORDS / 2) mz_state_poison();
        return true;
    }
    for (; un.words[i].stamp == un.stamp; i = (i + 1) % WORDS)
        if (un.words[i].at == at) return false;
    un.words[i].at = at;
    un.words[i].stamp = un.stamp;
    un.word_count++;
    return true;
}

static bool is_known(uint64_t at)
{
    uint32_t i = (uint32_t)((at >> 3) + (at >> 23) * 0x9e3779b9u) % WORDS;
    for (; un.words[i].stamp == un.stamp; i = (i + 1) % WORDS)
        if (un.words[i].at == at) return true;
    return false;
}

/* Whole pages are in the same table as words, by an odd number. */
static inline uint64_t page_key(uint64_t at) { return (at & ~(uint64_t)(PAGE - 1)) + 1; }

/* Has it been announced since the last node? Of very many, it is not known. */
bool mz_undo_announced(uint64_t at)
{
    return un.word_count >= WORDS / 2 || is_known(at) || is_known(page_key(at));
}

/* Another thread's variable: that thread is to be compared, though it did not run. */
static void note_thread_variable(uint64_t at)
{
    int owner = mz_memory_tls_owner(at);
    if (owner >= 0) un.touched |= mz_slot_bit(owner);
}

static void write_word(uint64_t at)
{
    if (!is_new(at)) return;
    if (mz_unlikely(un.count > LOG_LIMIT) && overflows(8)) return;
    uint64_t old = *(const uint64_t *)at;
    *(uint64_t *)(void *)push(at, 8, WORD, 0, 0) = old;
    if ((un.mirrors || rt.hashing) && rt.switch_fs) note_thread_variable(at);
    if (mz_likely(!rt.hashing)) return;
    int owner = mz_fiber_stack_owner(at);
    if (owner >= 0) {
        un.touched |= mz_slot_bit(owner); /* its stack has a hash of its own */
        return;
    }
    if (mz_unlikely(un.hashed_count == WORDS)) settle_words();
    mz_state_word(at, old, false);
    un.hashed[un.hashed_count++] = at;
}

/* These bytes are part of the state of the program. */
void mz_undo_write(const volatile void *p, size_t size)
{
    uint64_t at = (uintptr_t)p & ~7ull, end = (uintptr_t)p + size;
    if (mz_unlikely((un.floor == UINT32_MAX && !rt.hashing) || un.off)) return;
    if (mz_unlikely(size == PAGE && at % PAGE == 0) && !rt.hashing && !(un.mirrors && rt.switch_fs)) {
        if (is_new(page_key(at))) mz_undo_keep((const void *)at, PAGE);
        return;
    }
    for (; at < end; at += 8) write_word(at);
}

/* The same for what the runtime keeps for the program. */
void mz_undo_state(const volatile void *p, size_t size)
{
    if (mz_unlikely(rt.channel->options.exact_match)) mz_state_kept(p, size);
    mz_undo_write(p, size);
}

/* The words that the step has written: they are as they are now. */
static void settle_words(void)
{
    for (uint32_t i = 0; i < un.hashed_count; i++)
        mz_state_word(un.hashed[i], *(const uint64_t *)un.hashed[i], true);
    un.hashed_count = 0;
}

/* ---- threads ---- */

#define PENDING sizeof(struct mz_pending)

/* What is kept of a thread, but its stack: one behind the other. */
static size_t thread_size(void) { return HEAD + PENDING + (rt.switch_fs ? rt.tls_size : 0); }

static char *tls_of(int slot) { return (char *)rt.slots[slot].fs - rt.tls_size; }

static void log_thread(int slot)
{
    if (mz_unlikely(un.count > LOG_LIMIT) && overflows(thread_size())) return;
    un.logged[slot] = un.count;
    char *to = push(0, thread_size(), THREAD, slot, 0);
    copy_words(to, &rt.run.threads[slot], HEAD);
    copy_words(to + HEAD, &rt.view.pending[slot], PENDING);
    if (rt.switch_fs) mz_raw_memcpy(to + HEAD + PENDING, tls_of(slot), rt.tls_size);
}

static void thread_back(int slot, const char *from)
{
    copy_words(&rt.run.threads[slot], from, HEAD);
    copy_words(&rt.view.pending[slot], from + HEAD, PENDING);
    if (rt.switch_fs) mz_raw_memcpy(tls_of(slot), from + HEAD + PENDING, rt.tls_size);
}

/* Its state is about to be changed, though it does not run. */
void mz_undo_thread(int slot)
{
    if (!rt.undo || un.others & mz_slot_bit(slot)) return;
    un.others |= mz_slot_bit(slot);
    if (un.mirrors || un.off || un.floor == UINT32_MAX || un.saved & mz_slot_bit(slot)) return;
    log_thread(slot);
}

/* Nothing is but who joins it, or has joined it. Where states are told apart, that is a change like others.
 */
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

/* Nothing but its result is about to be changed. */
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
    char *to = push(0, REST_SIZE + tls, REST_OF_RUN, 0, 0);
    copy_words(to, rt.run.interrupted, REST);
    copy_words(to + REST, &rt.view, REST_SIZE - REST);
    if (tls) mz_raw_memcpy(to + REST_SIZE, tls_of(0), tls);
}

static void rest_back(const char *from, size_t size)
{
    copy_words(rt.run.interrupted, from, REST);
    copy_words(&rt.view, from + REST, REST_SIZE - REST);
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
    const char *clean = s->stack_high - (rt.stateful ? 0 : mz_spin_clean_size()), *sp = s->sp,
               *from = sp < clean ? sp : clean;
    if (rt.undo == MZ_UNDO_PAGES) mz_stack_compare(slot, compare); /* others may have written to it before */
    if (mz_unlikely(rt.auditing)) mz_stack_compare(slot, mz_audit_stack);
    size_t size = (size_t)(s->stack_high - from);
    if (mz_unlikely(un.count + size > LOG_LIMIT) && overflows(size)) return;
    char *to = push((uintptr_t)from, size, STACK, slot, (uintptr_t)sp);
    mz_raw_memcpy(to, from, size);
    mz_fiber_keep(slot);
    if (mz_unlikely(rt.channel->options.poke_dead) && rt.hashing) mz_stack_poke(slot);
}

/* ---- mirrors ---- */

static inline bool differ(const char *a, const char *b)
{
    const uint64_t *p = (const uint64_t *)(const void *)a, *q = (const uint64_t *)(const void *)b;
    return ((p[0] ^ q[0]) | (p[1] ^ q[1]) | (p[2] ^ q[2]) | (p[3] ^ q[3])) != 0;
}

/* Log what has changed since the mirror was right, and make it right. size: a multiple of 8. */
static bool compare(void *now, void *mirror, size_t size)
{
    char *a = now, *b = mirror;
    size_t i = 0, before = un.count;
    for (; i + CHUNK <= size; i += CHUNK) {
        if (mz_likely(!differ(a + i, b + i))) continue;
        mz_raw_memcpy(push((uintptr_t)(a + i), CHUNK, MIRRORED, 0, (uintptr_t)(b + i)), b + i, CHUNK);
        mz_raw_memcpy(b + i, a + i, CHUNK);
    }
    for (; i < size; i += 8) {
        if (*(uint64_t *)(void *)(a + i) == *(uint64_t *)(void *)(b + i)) continue;
        copy(push((uintptr_t)(a + i), 8, MIRRORED, 0, (uintptr_t)(b + i)), b + i, 8);
        copy(b + i, a + i, 8);
    }
    return un.count != before;
}

static void compare_memory(void *now, void *mirror, size_t size) { compare(now, mirror, size); }

/* The same for what belongs to the state of the program. */
static void compare_hashed(void *now, void *mirror, size_t size)
{
    const uint64_t *a = now, *b = mirror;
    for (size_t i = 0; i < size / 8; i++) {
        if (mz_likely(a[i] == b[i])) continue;
        mz_state_word((uintptr_t)&a[i] + 1, b[i], false); /* odd: not mixed up with words */
        mz_state_word((uintptr_t)&a[i] + 1, a[i], true);
    }
    compare(now, mirror, size);
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

/* Does an operation change nothing of the state of other threads but whether they are enabled? */
static bool is_own_affair(uint8_t op)
{
    return (op >= MZ_OP_LOAD && op <= MZ_OP_UNLOCK) || op == MZ_OP_CHOOSE || op == MZ_OP_SECTION ||
           op == MZ_OP_EXIT;
}

static uint64_t known_slots(void)
{
    return rt.slots_known < 64 ? mz_slot_bit((int)rt.slots_known) - 1 : ~(uint64_t)0;
}

/* Threads whose state may have changed since the last node: those that ran, unless more is known. */
static uint64_t changed_threads(void)
{
    uint32_t k = rt.path->depth;
    bool own = k && is_own_affair(rt.path->events[k - 1].op);
    if (rt.undo == MZ_UNDO_PAGES) own = false; /* nobody tells when it writes to another's variables */
    return own ? (un.saved | un.others | un.touched) & known_slots() : known_slots();
}

/* Returns those whose state has changed. */
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

/* Stacks of these threads are now as they are to be at the node. */
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

/* ---- is all of it taken back? (make OPT='-O2 -g -DMZ_CHECK_UNDO') ---- */

#ifdef MZ_CHECK_UNDO
static struct whole {
    struct mz_run run;
    struct mz_view view;
} * wholes; /* at each node */

static void check_keep(uint32_t k)
{
    if (!wholes) wholes = mz_region_reserve(((size_t)1 << 20) * sizeof *wholes);
    mz_raw_memcpy(&wholes[k].run, &rt.run, sizeof rt.run);
    mz_raw_memcpy(&wholes[k].view, &rt.view, sizeof rt.view);
}

static void check_back(uint32_t k)
{
    struct whole *was = &wholes[k];
    for (uint32_t t = 0; t < rt.slots_known; t++) {
        was->view.pending[t].access = rt.view.pending[t].access; /* is found out anew when it matters */
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

/* An execution begins at the beginning. */
void mz_undo_begin(void)
{
    un.count = 0;
    un.floor = 0;
    un.saved = un.others = un.touched = 0;
    un.stamp++;
    un.word_count = un.hashed_count = 0;
    un.off = false;
    un.whole = true;
    un.mirrors = rt.undo == MZ_UNDO_PAGES;
    if (rt.hashing) mz_state_begin();
    if (rt.undo && un.mirrors) fill_mirrors();
    mz_audit_begin();
}

static void next_step_begins(uint32_t k)
{
    check_keep(k);
    un.marks[k] = un.count;
    un.saved = un.others = un.touched = 0;
    un.stamp++;
    un.word_count = un.hashed_count = 0;
}

/* Memory that is compared may all have changed in one step: then there would be no room in the log. */
static bool too_large(void)
{
    return rt.undo == MZ_UNDO_PAGES && mz_snapshot_size() + mz_heap_size() > LOG_ROOM / 8;
}

/* Of a thread that did not run, but that the step may have changed. */
static bool is_changed(int slot)
{
    const char *before = un.log + un.logged[slot];
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

/* Check that what the step has changed was announced. `frame`: where the stack of the running thread ends. */
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
    if (mz_unlikely(rt.hashing)) settle_words();
    if (mz_unlikely(rt.hashing) && !un.mirrors) changed = logged_and_changed();
    if (mz_unlikely(un.floor == UINT32_MAX || un.count > LOG_LIMIT)) {
        un.count = 0;
        un.floor = k;
        un.whole = false;
    }
    if (mz_unlikely(un.mirrors)) {
        changed = compare_all(changed_threads());
        mirror_stacks(un.saved & known_slots(),
                      *(const char **)MZ_FRAME() + 16); /* above dispatch_reversibly */
    }
    if (mz_unlikely(rt.auditing)) audit(*(const char **)MZ_FRAME() + 16);
    if (mz_unlikely(rt.hashing)) mz_state_node(changed & known_slots());
    if (mz_unlikely(rt.hashing) && !rt.stateful) mz_state_sample();
    next_step_begins(k);
    if (mz_likely(!un.mirrors)) log_rest();
}

/* The thread is about to do what it posted: what that may change of others is kept. */
void mz_undo_step(int thread)
{
    if (mz_likely(un.mirrors || is_own_affair(rt.view.pending[thread].op))) return;
    for (uint64_t t = known_slots(); t; t &= t - 1) mz_undo_thread(__builtin_ctzll(t));
}

/* There is no log to go back by, or it is not to be used. */
void mz_undo_forget(void) { un.off = true; }

/* What happens in this step cannot be taken back. */
void mz_undo_barrier(void)
{
    if (rt.undo && un.floor < rt.path->depth) un.floor = rt.path->depth;
    if (rt.hashing) mz_state_poison(); /* it is not part of the identity */
}

/* There is memory that is not looked at. */
void mz_undo_give_up(void)
{
    if (rt.stateful)
        mz_unsupported("a stateful algorithm and mappings or very much memory", "use --algorithm=optimal");
    mz_audit_stop();
    un.off = true;
}

bool mz_undo_reaches(uint32_t k) { return rt.undo && !un.off && un.floor <= k && !too_large(); }

/* Take back the newest entry of the log. `mark`: where the log of the node begins that is gone back to. */
static void take_back(size_t mark)
{
    const struct entry e = *(const struct entry *)(const void *)(un.log + un.count - sizeof e);
    const char *bytes = un.log + un.count - sizeof e - ((e.size + 7) & ~(size_t)7);
    if (e.kind == THREAD)
        thread_back(e.slot, bytes);
    else if (e.kind == REST_OF_RUN && bytes == un.log + mark)
        rest_back(bytes, e.size); /* all of it at each node: only the first one counts */
    else if (e.kind != REST_OF_RUN)
        copy((void *)(uintptr_t)e.at, bytes, e.size);
    if (e.kind == STACK) rt.slots[e.slot].sp = (void *)(uintptr_t)e.mirror;
    if (e.kind == MIRRORED) copy((void *)(uintptr_t)e.mirror, bytes, e.size);
    un.count = (size_t)(bytes - un.log);
}

void mz_undo_to(uint32_t k)
{
    mz_audit_stop();
    un.others = ~(uint64_t)0; /* what has happened since the last node may be anything */
    if (un.mirrors) compare_all(changed_threads());
    while (un.count > un.marks[k]) take_back(un.marks[k]);
    mirror_stacks(known_slots(), NULL);
    if (rt.hashing) mz_state_back(k);
    check_back(k);
    next_step_begins(k);
    if (!un.mirrors) log_rest();
}

bool mz_undo_all(void)
{
    mz_audit_stop();
    if (rt.undo != MZ_UNDO_WRITES || un.mirrors || un.off || un.floor || !un.whole) return false;
    while (un.count) take_back(0);
    un.off = true;
    return true;
}
