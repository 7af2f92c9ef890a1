/* The identity of the program's state, for the stateful algorithms.
 *
 * Two states with the same identity have the same future, except with probability 2^-128. The identity covers
 * all of program memory; for each thread, its place in the code, its stack, its registers, and what it waits
 * for; and the data that the runtime keeps for the program. If the same state gets two identities, the search
 * only misses a match.
 *
 * The identity is updated at each step, at a cost that depends on what the step changed. It consists of a sum
 * over all words of memory that differ from their value at the start, updated whenever a word is written
 * (undo.c reports that), and of one hash for each thread, computed again when the thread has run. Only live
 * blocks of the heap count: when a block is freed, its words are removed from the sum.
 *
 * A thread's stack counts from the point where the thread was stopped, upwards. That includes functions of
 * the runtime that the program has called: their places and arguments are state. The registers that survive
 * calls are as the program left them (Makefile). Dead bytes in the frames of the program, and dead registers,
 * are left out as far as they are known (liveness.c). The part of the stack below is cleared when a thread
 * continues (fiber.c), so that slots that a function never sets always have the same contents.
 *
 * Only one part of the past belongs to the state: the part that decides about data races (race_history.c). */
#include "runtime/state/state.h"
#include "base/mix.h"
#include "base/region.h"
#include "base/table.h"
#include "runtime/kernel/kernel_state.h"
#include "runtime/memory/heap.h"
#include "runtime/memory/races.h"
#include "runtime/rewind/rewind.h"
#include "runtime/state/hash.h"
#include "runtime/state/liveness.h"
#include "runtime/state/room.h"

#include <errno.h>

#define ROOM ((size_t)4 << 30)

#define st mz_state_room.state

void mz_state_init(void)
{
    mz_delta_init();
    if (rt.stateful) mz_races_init();
    mz_live_init();
    mz_stack_init();
    uint64_t steps = rt.channel->options.max_steps;
    if (steps > (1u << 24)) steps = 1u << 24;
    st.at_node = mz_region_reserve((size_t)(steps + 4) * sizeof *st.at_node);
    st.bytes = mz_region_reserve(ROOM);
    MZ_ASSERT(st.at_node && st.bytes);
    st.errno_offset = rt.slots[0].fs - (uintptr_t)&errno;
}

void mz_state_begin(void)
{
    mz_delta_begin();
    st.poison = 0;
    if (rt.stateful) mz_races_begin();
    mz_state_room.memory = st.threads = (struct mz_state){{0, 0}};
    for (uint32_t s = 0; s < MZ_SLOTS; s++) st.thread[s] = (struct mz_state){{0, 0}};
}

/* The current state is unlike every other state. */
void mz_state_poison(void)
{
    st.poison = ++st.poisons;
    mz_hash_add(&mz_state_room.memory, mz_hash_of(~(uint64_t)0, st.poison));
}

/* program.h */
bool mz_state_is_unique(void *system)
{
    (void)system;
    return st.poison;
}

/* ---- the heap ---- */

static uint64_t filled(int with) { return (uint64_t)(uint8_t)with * 0x0101010101010101u; }

/* A block has been allocated. Its address, size and filling count now, its words only when they are written. */
void mz_state_allocated(const void *p, size_t size, int with)
{
    mz_hash_add(&mz_state_room.memory, mz_hash_of((uintptr_t)p, size << 8 | (uint8_t)with));
}

/* A block is about to be freed: it does not count any more. Where pages are compared, its words have other
 * terms in the sum (compare_hashed in undo.c), and these stay. */
void mz_state_freed(const void *p, size_t size, int with)
{
    const uint64_t *word = p, fill = filled(with);
    mz_hash_take(&mz_state_room.memory, mz_hash_of((uintptr_t)p, size << 8 | (uint8_t)with));
    for (size_t i = 0; rt.undo != MZ_UNDO_PAGES && i < (size + 7) / 8; i++) {
        if (word[i] == fill) continue;
        mz_hash_take(&mz_state_room.memory, mz_hash_of((uintptr_t)&word[i], word[i]));
        mz_hash_add(&mz_state_room.memory, mz_hash_of((uintptr_t)&word[i], fill));
    }
}

/* ---- threads ---- */

/* Words are gathered first, in their order. Then pairs of words are mixed with keys that no other pair of any
 * thread has, and added up (base/mix.c). */
#define GATHERED 64u

struct local {
    struct mz_mix mix;
    bool write; /* write the words to st.bytes, too */
    uint64_t *next;
    uint64_t words[GATHERED + 2];
};

static void write_bytes(const void *p, size_t size);

static __attribute__((noinline)) void flush(struct local *l)
{
    if ((l->next - l->words) & 1) *l->next++ = 0;
    if (mz_unlikely(l->write)) write_bytes(l->words, (size_t)((char *)l->next - (char *)l->words));
    mz_mix_words(&l->mix, l->words, l->next);
    l->next = l->words;
}

/* Returns space for this number of words. */
static inline uint64_t *room(struct local *l, size_t words)
{
    if (mz_unlikely(l->next + words > l->words + GATHERED)) flush(l);
    return l->next;
}

static void add(void *local, uint64_t word)
{
    struct local *l = local;
    *room(l, 1) = word;
    l->next++;
}

static inline void add_all(struct local *l, const uint64_t *p, const uint64_t *end)
{
    while (p < end) {
        const uint64_t *part = end - p > 16 ? p + 16 : end;
        uint64_t *w = room(l, 16);
        while (p < part) *w++ = *p++;
        l->next = w;
    }
}

/* Adds all words from p on, without the dead bytes in the frames of the program. */
static void add_stack(struct local *l, const struct mz_stack *s, const uint64_t *p)
{
    add(l, (uint64_t)((const char *)s->high - (const char *)p));
    for (unsigned i = 0; i < s->count; i++) {
        const struct mz_live *live = s->frames[i].live;
        const uint64_t *base = s->frames[i].base;
        add_all(l, p, base - (live ? live->words : 0));
        if (!live || !live->words) {
            if (p < base) p = base;
            continue;
        }
        p = base - live->words;
        for (const uint64_t *mask = live->mask + live->words; p < base;) {
            const uint64_t *part = base - p > 16 ? p + 16 : base;
            uint64_t *w = room(l, 16);
            while (p < part) *w++ = *p++ & *--mask;
            l->next = w;
        }
    }
    add_all(l, p, s->high);
}

const struct mz_parked *mz_state_stack(int slot, struct mz_stack *s)
{
    const struct mz_parked *p = slot == rt.self ? &st.running : rt.slots[slot].sp;
    mz_stack_of(s, slot, p);
    return p;
}

static void add_registers(struct local *l, int slot)
{
    struct mz_stack s;
    const struct mz_parked *p = mz_state_stack(slot, &s);
    const struct mz_thread *t = &rt.run.threads[slot];
    const uint64_t *from = s.first + 1;
    uint64_t *w = room(l, 8);
    if (s.registers & 1u << 3) *w++ = p->rbx;
    if (s.registers & 1u << 12) *w++ = p->r12;
    if (s.registers & 1u << 13) *w++ = p->r13;
    if (s.registers & 1u << 14) *w++ = p->r14;
    if (s.registers & 1u << 15) *w++ = p->r15;
    if (t->simple) /* of the runtime's own frames, only the return addresses count */
        for (unsigned i = 0; i < 3; i++) *w++ = t->operands[i];
    l->next = w;
    if (t->simple) {
        for (const uint64_t *f = s.first; f != s.entered; f = (const uint64_t *)f[0]) add(l, f[1]);
        from = s.entered; /* the frame pointer of the caller counts */
    }
    add_stack(l, &s, from);
}

static uint64_t *put_pending(uint64_t *w, const struct mz_pending *p)
{
    if (p->op == MZ_OP_NONE) { /* the other fields are stale */
        *w++ = 0;
        return w;
    }
    *w++ = (uint64_t)p->op | (uint64_t)p->size << 8 | (uint64_t)p->order << 16 | (uint64_t)p->failure << 24;
    *w++ = p->key;
    *w++ = p->op == MZ_OP_RESUME ? 0 : p->expected; /* wait_object tells as long as the thread waits */
    *w++ = p->choices;
    return w;
}

_Static_assert(sizeof(struct mz_thread) ==
                   sizeof((struct mz_thread *)0)->past + sizeof((struct mz_thread *)0)->life +
                       sizeof((struct mz_thread *)0)->own + sizeof((struct mz_thread *)0)->rare +
                       sizeof((struct mz_thread *)0)->wait + sizeof((struct mz_thread *)0)->operands +
                       sizeof((struct mz_thread *)0)->held + sizeof((struct mz_thread *)0)->knows,
               "every field of a thread stands in a section, and every section is as large as its words");

#define PUT(w, words)                                                                                        \
    do {                                                                                                     \
        for (unsigned i_ = 0; i_ < sizeof(words) / 8; i_++) *(w)++ = (words)[i_];                            \
    } while (0)

_Static_assert(offsetof(struct mz_thread, shape) == offsetof(struct mz_thread, life) + 7,
               "the highest byte of the first word");

static bool has_rare(const struct mz_thread *t)
{
    uint64_t any = 0;
    for (unsigned i = 0; i < sizeof t->rare / 8; i++) any |= t->rare[i];
    return any != 0;
}

/* Will the thread ever continue? */
static bool has_stack(const struct mz_thread *t)
{
    return t->state != MZ_THREAD_ABSENT && t->state != MZ_THREAD_FINISHED && t->state != MZ_THREAD_FAILED &&
           t->state != MZ_THREAD_EXITING;
}

/* Writes the sections of the thread that count now, and a code that says which ones. */
static uint64_t *put_sections(uint64_t *w, const struct mz_thread *t)
{
    bool rare = has_stack(t) && has_rare(t);
    uint64_t shape = (uint64_t)rare | (uint64_t)(rare && t->poll_place && t->polled_at == t->changes) << 1;
    *w++ = t->life[0] | shape << 56;
    *w++ = t->life[1];
    if (!has_stack(t)) return w;
    PUT(w, t->own);
    if (mz_unlikely(rare)) PUT(w, t->rare);
    if (t->state != MZ_THREAD_RUNNABLE) PUT(w, t->wait);
    return w;
}

/* The thread that has ended the program does not continue. But after exit() the check for leaks reads its
 * stack; after _exit() there is no check for leaks (leaks.c). */
static void add_exit(struct local *l, int slot)
{
    const uint64_t *from = rt.run.exit_frame;
    if (!rt.channel->options.leaks) return;
    add(l, (uintptr_t)from);
    if (!mz_fiber_stack_contains(slot, (uintptr_t)from)) return;
    add_all(l, from, (const uint64_t *)(const void *)rt.slots[slot].stack_high);
}

/* Gathers everything of the thread except its stack and registers. */
static void gather_fields(struct local *l, int slot)
{
    const struct mz_thread *t = &rt.run.threads[slot];
    l->next = put_sections(l->words, t);
    if (!has_stack(t)) return;
    uint64_t *w = put_pending(l->next, &rt.view.pending[slot]);
    if (rt.switch_fs) *w++ = *(const uint32_t *)(rt.slots[slot].fs - st.errno_offset);
    if (rt.switch_fp) *w++ = mz_fiber_environment(slot);
    l->next = w;
    add_all(l, (const uint64_t *)t->held, (const uint64_t *)(t->held + t->held_count));
    if (t->keys_set) rt.up.keys_each(slot, add, l);
}

static void gather(struct local *l, int slot)
{
    gather_fields(l, slot);
    if (!has_stack(&rt.run.threads[slot])) {
        if (mz_unlikely(rt.run.exited && slot == rt.run.exit_thread)) add_exit(l, slot);
        return;
    }
    if (mz_unlikely(rt.channel->options.state_capture == MZ_CAPTURE_DELTA) && !l->write)
        add(l, mz_delta_id(slot));
    else
        add_registers(l, slot);
}

static void begin(struct local *l, int slot, bool write)
{
    l->mix = (struct mz_mix){{0, 0}, (uint64_t)(slot + 1) * 0xd6e8feb86659fd93u};
    l->write = write;
}

static struct mz_state thread_now(int slot, bool write)
{
    struct local l;
    begin(&l, slot, write);
    gather(&l, slot);
    flush(&l);
    return (struct mz_state){{l.mix.hash[0], l.mix.hash[1]}};
}

static void make_anew(int slot)
{
    struct mz_state now = thread_now(slot, false);
    mz_keep(&st.thread[slot], sizeof st.thread[slot]);
    mz_hash_take(&st.threads, st.thread[slot]);
    mz_hash_add(&st.threads, now);
    st.thread[slot] = now;
}

/* ---- nodes ---- */

/* Called at a node. All words of memory are up to date, and so are the stacks. The registers are still those
 * of the program: the runtime does not use them (Makefile), but the engine will. */
void mz_state_node(uint64_t changed)
{
    __asm__ volatile("movq %%rbx, %0\n\tmovq %%r12, %1\n\tmovq %%r13, %2\n\tmovq %%r14, %3\n\tmovq %%r15, %4"
                     : "=m"(st.running.rbx), "=m"(st.running.r12), "=m"(st.running.r13), "=m"(st.running.r14),
                       "=m"(st.running.r15));
    /* The frame of undo.c, which dispatch_reversibly calls, too. */
    st.running.rbp = *(const uint64_t *)MZ_FRAME();
    for (; changed; changed &= changed - 1) make_anew(__builtin_ctzll(changed));
    if (rt.stateful) mz_races_node();
    st.at_node[rt.path->depth].memory = mz_state_room.memory;
    st.at_node[rt.path->depth].threads = st.threads;
    st.at_node[rt.path->depth].poison = st.poison;
}

void mz_state_back(uint32_t node)
{
    mz_state_room.memory = st.at_node[node].memory;
    st.threads = st.at_node[node].threads;
    st.poison = st.at_node[node].poison;
    mz_delta_back();
}

static void add_rest(struct mz_state *out)
{
    /* This key is no address, and none of the keys below. */
    mz_hash_add(out, mz_hash_of(~rt.view.enabled, rt.view.alive));
    if (mz_likely(!(rt.run.failed | rt.run.clock_ns) && !rt.run.exited)) return;
    mz_hash_add(out, mz_hash_of(3, rt.run.failed));
    mz_hash_add(out, mz_hash_of(4, (uint64_t)rt.run.exited << 32 | (uint32_t)rt.run.exit_code));
    mz_hash_add(out, mz_hash_of(5, rt.run.clock_ns));
}

/* program.h */
void mz_state_of(void *system, struct mz_state *out)
{
    (void)system;
    *out = mz_state_room.memory;
    mz_hash_add(out, st.threads);
    add_rest(out);
    if (rt.stateful) mz_races_hash(out);
}

/* program.h */
void mz_state_memory_of(void *system, struct mz_state *out)
{
    (void)system;
    /* Where pages are compared (undo.c), the sum is relative to the contents of the pages when the execution
     * began or when they were first written. These depend on libc's lazily made data, and on thread-local
     * storage of the previous execution. */
    *out = rt.undo == MZ_UNDO_PAGES ? (struct mz_state){{0, 0}} : mz_state_room.memory;
}

/* Hashes the calls that a thread is in, without the contents of their frames. */
static struct mz_state thread_outline(int slot)
{
    struct local l;
    struct mz_stack s;
    begin(&l, slot, false);
    gather_fields(&l, slot);
    if (has_stack(&rt.run.threads[slot])) {
        mz_state_stack(slot, &s);
        for (unsigned i = 0; i < s.count; i++) add(&l, i ? s.frames[i - 1].base[1] : s.entered[1]);
    }
    flush(&l);
    return (struct mz_state){{l.mix.hash[0], l.mix.hash[1]}};
}

/* program.h: for tests */
void mz_state_outline(void *system, struct mz_state *out)
{
    (void)system;
    *out = mz_state_room.memory;
    for (uint32_t slot = 0; slot < rt.slots_known; slot++) mz_hash_add(out, thread_outline((int)slot));
    add_rest(out);
}

/* ---- the state as a whole ---- */

static void write_bytes(const void *p, size_t size)
{
    MZ_ASSERT(st.size + size <= ROOM);
    mz_raw_memcpy(st.bytes + st.size, p, size);
    st.size += size;
}

static void write_area(const void *p, size_t size)
{
    uint64_t head[2] = {(uintptr_t)p, size};
    write_bytes(head, sizeof head);
    write_bytes(p, size);
}

static void write_kept(uint64_t at, uint64_t value)
{
    uint64_t word[2] = {at, value};
    write_bytes(word, sizeof word);
}

static void write_heap(int slot)
{
    for (const struct mz_block *b = mz_heap_last(slot); b; b = mz_heap_previous(b))
        if (mz_heap_is_live(b)) write_area(b + 1, b->size);
}

/* program.h */
size_t mz_state_bytes(void *system, const void **bytes)
{
    (void)system;
    st.size = 0;
    mz_snapshot_changed(write_area);
    mz_state_each_kept(write_kept);
    for (uint32_t s = 0; s < rt.slots_known; s++) {
        write_heap((int)s);
        thread_now((int)s, true);
        if (rt.switch_fs) write_area((char *)rt.slots[s].fs - rt.tls_size, rt.tls_size);
    }
    /* States are only compared if their hashes are equal, and a poison is part of the hash
     * (mz_state_poison). */
    const uint64_t rest[] = {
        rt.view.enabled, rt.view.alive, rt.run.failed, rt.run.exited, (uint64_t)rt.run.exit_code,
        rt.run.clock_ns};
    write_bytes(rest, sizeof rest);
    mz_kernel_state_each(write_bytes);
    mz_races_bytes(write_bytes);
    *bytes = st.bytes;
    return st.size;
}

/* ---- would a stateful search pay? ---- */

/* A stateless search samples states for some time, and counts how often it reaches a state that it has
 * seen. */
#define SEEN   MZ_STATE_SAMPLES
#define sample mz_state_room.sample

void mz_state_sample(void)
{
    struct mz_state now;
    uint32_t first = rt.once ? rt.channel->options.schedule_length : rt.path->replay;
    if (rt.path->depth < first) return;
    bool always = rt.channel->options.state_capture == MZ_CAPTURE_ALWAYS;
    if (!always && sample.looked >= SEEN / 2) return;
    mz_state_of(NULL, &now);
    if (always) {
        __asm__ volatile("" : : "m"(now));
        return;
    }
    struct mz_state *seen = mz_wide_key_find(sample.states, sizeof *seen, SEEN - 1, now.hash);
    if (seen->hash[0] | seen->hash[1]) {
        sample.met++;
        if (rt.once) {
            mz_finding_endless(NULL, rt.path->depth, rt.view.enabled, 0);
            mz_fiber_leave();
        }
    }
    *seen = now;
    sample.looked++;
}

void mz_state_advise(void)
{
    char text[MZ_TEXT], *end = text + sizeof text, *t = text;
    if (sample.looked < 256 || sample.met * 2 < sample.looked) return;
    t = mz_text_number(t, end, sample.met * 100ull / sample.looked, 10);
    mz_text_add(
        t, end,
        " % of the sampled states had been reached before: --algorithm=portfolio explores no state twice "
        "and may be much faster");
    mz_text_copy(rt.channel->hint, sizeof rt.channel->hint, text);
}
