/* Findings: errors of the program. This file writes a finding into the channel, with the schedule that leads
 * to it. Any file may report one.
 *
 * Without --keep-going, the search stops at the first finding. With --keep-going, most findings end their
 * thread, and the other threads run on to the end of the execution. So the execution stays maximal, and the
 * reduction can learn from it. A finding with the same hash (kind and place) as an earlier one is not stored
 * again. */
#include "runtime/core/runtime.h"
#include "runtime/memory/memory.h"

#include <signal.h>
#include <unistd.h>

extern char **environ;

/* The operation that a report shows for the thread: none if it waits to be woken, or runs on after a wait. */
static uint8_t shown_operation(int slot)
{
    const struct mz_pending *p = &rt.view.pending[slot];
    bool waits = rt.view.waiting & mz_slot_bit(slot);
    if (p->op == MZ_OP_RESUME && (waits || !p->key)) return MZ_OP_NONE;
    return p->op;
}

static void final_state(struct mz_thread_final *to, int slot)
{
    const struct mz_thread *t = &rt.run.threads[slot];
    to->state = t->state;
    to->holder = -1;
    to->op = shown_operation(slot);
    to->object = 0;
    switch ((enum mz_thread_state)t->state) {
    case MZ_THREAD_LOCKING:
        to->object = t->wait_object;
        to->holder = (int8_t)rt.up.object_holder(t->wait_object, to->op, slot);
        if (rt.view.enabled >> slot & 1) to->state = MZ_THREAD_RUNNABLE;
        break;
    case MZ_THREAD_SEMWAIT:
        to->object = t->wait_object;
        if (rt.view.enabled >> slot & 1) to->state = MZ_THREAD_RUNNABLE;
        break;
    case MZ_THREAD_WAITING:
    case MZ_THREAD_BARRIER:
    case MZ_THREAD_FUTEX:
    case MZ_THREAD_SIGWAIT:
    case MZ_THREAD_SPINNING:
        to->object = t->wait_object;
        break;
    case MZ_THREAD_JOINING:
        to->holder = (int8_t)t->joining;
        break;
    case MZ_THREAD_RUNNABLE:
        to->object = rt.view.pending[slot].key;
        break;
    default:
        break;
    }
    if (t->state != MZ_THREAD_ABSENT && slot != rt.self) mz_place_left(&to->place, slot);
}

static void final_states(struct mz_finding *f)
{
    for (int s = 0; s < (int)rt.slots_known; s++) final_state(&f->threads[s], s);
}

static void keep_schedule(struct mz_finding *f)
{
    struct mz_channel *c = rt.channel;
    uint64_t bytes = rt.path->depth * sizeof(struct mz_step);
    if (c->arena_used + bytes > c->arena_size) return;
    f->steps = rt.path->depth;
    f->steps_offset = c->arena_offset + c->arena_used;
    c->arena_used += bytes;
    mz_raw_memcpy((char *)c + f->steps_offset, rt.path->steps, bytes);
}

/* Return a new finding, to be filled in. It counts only after add(). */
static struct mz_finding *begin(enum mz_kind kind)
{
    struct mz_channel *c = rt.channel;
    if (rt.trial) mz_fiber_leave(); /* a trial reports nothing: the search itself explores these steps */
    struct mz_finding *f = &c->findings[c->finding_count];
    mz_raw_memset(f, 0, sizeof *f);
    f->kind = kind;
    f->thread = rt.self;
    f->execution = mz_explore_counters(rt.x)->executions + 1;
    f->locations = rt.up.racing_locations();
    return f;
}

static void add(struct mz_finding *f)
{
    struct mz_channel *c = rt.channel;
    final_states(f);
    f->hash = mz_finding_hash(f);
    bool known = false;
    for (uint32_t i = 0; i < c->finding_count; i++)
        known |= c->findings[i].hash == f->hash && &c->findings[i] != f;
    if (!known && c->finding_count == MZ_MAX_FINDINGS) {
        c->findings_lost = 1;
    } else if (!known) {
        keep_schedule(f);
        c->finding_count++;
    }
    if (!c->options.keep_going) rt.stop = true;
}

static _Noreturn void fail_thread(struct mz_finding *f, const void *frame)
{
    if (!f->place.pc[0]) mz_record_place(&f->place, frame);
    if (rt.recording) mz_finding_frame(f, frame);
    rt.run.failed |= (uint64_t)1 << rt.self;
    rt.run.threads[rt.self].state = MZ_THREAD_FAILED;
    MZ_RECORD(MZ_OP_FAIL, f->address, 0, 0, 0, 0, 0, frame);
    add(f);
    rt.up.halt(MZ_THREAD_FAILED);
}

struct mz_finding *mz_finding_begin(enum mz_kind kind, const char *text)
{
    struct mz_finding *f = begin(kind);
    mz_text_copy(f->text, sizeof f->text, text);
    return f;
}

_Noreturn void mz_finding_end(struct mz_finding *f, uint64_t pc, const void *frame)
{
    mz_record_place(&f->place, frame);
    if (!f->place.pc[0]) f->place.pc[0] = pc;
    fail_thread(f, frame);
}

/* Add a finding that does not end its thread. */
void mz_finding_keep(enum mz_kind kind, const char *text, uint64_t address, uint64_t pc)
{
    struct mz_finding *f = mz_finding_begin(kind, text);
    f->address = address;
    rt.up.describe(f);
    mz_record_place(&f->place, MZ_FRAME());
    if (!f->place.pc[0]) f->place.pc[0] = pc;
    add(f);
}

/* A finding about an address that the program passed to free or realloc. */
_Noreturn void mz_finding_block(enum mz_kind kind, const char *text, uint64_t address)
{
    struct mz_finding *f = mz_finding_begin(kind, text);
    f->address = address;
    f->op = MZ_OP_DEALLOCATE;
    rt.up.describe(f);
    fail_thread(f, MZ_FRAME());
}

_Noreturn void mz_finding_here(enum mz_kind kind, const char *text, int code, uint64_t address)
{
    struct mz_finding *f = begin(kind);
    mz_text_copy(f->text, sizeof f->text, text);
    f->code = code;
    f->address = address;
    fail_thread(f, MZ_FRAME());
}

_Noreturn void mz_finding_at(enum mz_kind kind, const char *text, int code, uint64_t address, uint64_t pc,
                             const void *frame)
{
    struct mz_finding *f = begin(kind);
    mz_text_copy(f->text, sizeof f->text, text);
    f->code = code;
    f->address = address;
    mz_walk(&f->place, rt.self, frame);
    for (int i = MZ_MAX_FRAMES - 1; i > 0; i--) f->place.pc[i] = f->place.pc[i - 1];
    f->place.pc[0] = pc + 1; /* a place contains return addresses */
    rt.run.failed |= (uint64_t)1 << rt.self;
    rt.run.threads[rt.self].state = MZ_THREAD_FAILED;
    add(f);
    rt.up.halt(MZ_THREAD_FAILED);
}

_Noreturn void mz_finding_assert(const char *expression, const char *file, unsigned line,
                                 const char *function)
{
    struct mz_finding *f = begin(MZ_KIND_ASSERTION);
    (void)function;
    mz_text_copy(f->text, sizeof f->text, expression);
    mz_text_copy(f->file, sizeof f->file, file ? file : "");
    f->line = line;
    fail_thread(f, MZ_FRAME());
}

/* Find the race's first access in the record. Copy its call stack to the finding. If it is a write, store the
 * value that it wrote in the record. */
static void find_other(struct mz_finding *f)
{
    struct mz_record *r = (struct mz_record *)((char *)rt.channel + rt.channel->records_offset);
    for (uint32_t i = rt.channel->record_count; i-- > 0;) {
        bool overlaps = r[i].object < f->address + f->size && f->address < r[i].object + r[i].size;
        if (r[i].thread != f->other_thread || r[i].op != f->other_op || !overlaps) continue;
        f->other_place = r[i].place;
        f->other_size = r[i].size;
        if (r[i].op != MZ_OP_WRITE || r[i].size > 8) return;
        r[i].flags |= MZ_RECORD_HAS_VALUE;
        mz_raw_memcpy(&r[i].value, (const void *)(uintptr_t)r[i].object, r[i].size);
        return;
    }
}

/* A data race: the second access is about to happen at pc. The whole call stack of the first access is known
 * only in a replay. */
void mz_finding_race(int other, uint8_t op, uint8_t other_op, uint64_t address, unsigned size, uint64_t pc,
                     uint32_t other_pc)
{
    struct mz_finding *f = begin(MZ_KIND_DATA_RACE);
    f->other_thread = (uint8_t)other;
    f->op = op;
    f->other_op = other_op;
    f->address = address;
    f->size = size;
    f->other_size = size;
    f->other_pc = other_pc;
    mz_record_place(&f->place, MZ_FRAME());
    if (!f->place.pc[0]) f->place.pc[0] = pc;
    rt.up.describe(f);
    if (rt.recording) {
        find_other(f);
        mz_finding_frame(f, MZ_FRAME());
    }
    mz_text_copy(f->text, sizeof f->text,
                 "two accesses without synchronization, at least one of them a write");
    if (!rt.channel->options.keep_going) {
        rt.run.failed |= (uint64_t)1 << rt.self;
        rt.run.threads[rt.self].state = MZ_THREAD_FAILED;
    }
    add(f);
    if (rt.stop) rt.up.halt(MZ_THREAD_FAILED);
}

/* The program is not deterministic. `before`: the operation that the repeated step performed in an earlier
 * execution. NULL: all operations were the same, but they led to another state. The search stops, because
 * later results would not be reliable. */
_Noreturn void mz_finding_diverged(int thread, const struct mz_event *before)
{
    struct mz_finding *f = begin(MZ_KIND_NONDETERMINISM);
    const struct mz_pending *p = &rt.view.pending[thread];
    const struct mz_event now = {.op = p->op, .key = p->key, .pc = p->pc};
    mz_text_copy(f->text, sizeof f->text,
                 before ? "the same schedule led to another operation than before"
                        : "the same schedule led to another state than before");
    if (!before) before = &now;
    f->thread = f->other_thread = (uint8_t)thread;
    f->op = rt.view.pending[thread].op;
    f->other_op = before->op;
    f->address = rt.view.enabled >> thread & 1 ? rt.view.pending[thread].key : 0;
    f->other_address = before->key;
    f->place.pc[0] = rt.view.pending[thread].pc;
    f->other_place.pc[0] = before->pc;
    rt.stop = true;
    add(f);
    mz_fiber_leave();
}

void mz_finding_deadlock(void)
{
    uint64_t blocked = rt.view.alive;
    rt.self = (uint8_t)__builtin_ctzll(blocked);
    struct mz_finding *f = begin(MZ_KIND_DEADLOCK);
    mz_text_copy(f->text, sizeof f->text, "no thread can go on");
    mz_place_of(&f->place, rt.self);
    add(f);
    mz_place_left(&f->threads[rt.self].place, rt.self);
}

void mz_finding_livelock(void)
{
    int slot = 0;
    while (rt.run.threads[slot].state != MZ_THREAD_SPINNING) slot++;
    rt.self = (uint8_t)slot;
    struct mz_finding *f = begin(MZ_KIND_LIVELOCK);
    mz_text_copy(f->text, sizeof f->text, "a loop waits for a change that no thread will ever make");
    f->address = rt.run.threads[slot].wait_object;
    mz_place_of(&f->place, slot);
    add(f);
    mz_place_left(&f->threads[slot].place, slot);
}

/* For engine/program.h: after the first `depth` steps, these threads repeat a cycle of steps for ever. They
 * are now somewhere on the cycle. When the program is over, threads may run for ever: that is not a finding. */
void mz_finding_endless(void *system, uint32_t depth, uint64_t threads, uint64_t writers)
{
    (void)system, (void)writers; /* threads that write: a short lock is a write, too, so it tells nothing */
    uint32_t all = rt.path->depth;
    uint64_t there = threads & rt.view.alive;
    if (!there || rt.stop || mz_program_over()) return;
    rt.path->depth = depth;
    rt.self = (uint8_t)__builtin_ctzll(there);
    struct mz_finding *f = begin(MZ_KIND_LIVELOCK);
    mz_text_copy(f->text, sizeof f->text,
                 "threads repeat the same steps for ever, and no thread can end the cycle");
    bool waits = rt.view.waiting & mz_slot_bit(rt.self);
    f->address = waits ? rt.run.threads[rt.self].wait_object : rt.view.pending[rt.self].key;
    mz_place_of(&f->place, rt.self);
    add(f);
    for (; there; there &= there - 1) {
        int slot = __builtin_ctzll(there);
        f->threads[slot].state = MZ_THREAD_SPINNING;
        mz_place_left(&f->threads[slot].place, slot);
    }
    rt.path->depth = all;
}

void mz_finding_exit_code(void)
{
    rt.self = rt.run.exit_thread;
    struct mz_finding *f = begin(MZ_KIND_EXIT_CODE);
    mz_text_copy(f->text, sizeof f->text, "the program ended with a status other than 0");
    f->code = rt.run.exit_code & 0xff;
    f->place = rt.run.exit_place;
    add(f);
}

/* Blocks are leaked. The place is the allocation of the first block; it is known only in a replay. */
void mz_finding_leak(uint64_t first, uint64_t blocks, uint64_t bytes)
{
    int slot = mz_heap_slot(first);
    rt.self = (uint8_t)slot;
    struct mz_finding *f = mz_finding_begin(MZ_KIND_LEAK, "nothing points to these blocks any more");
    f->address = first;
    f->code = (int32_t)blocks;
    rt.up.describe(f);
    f->object_size = bytes;
    if (f->block) {
        const struct mz_block_history *h =
            (const struct mz_block_history *)((char *)rt.channel + rt.channel->blocks_offset) + f->block - 1;
        f->place = h->allocated;
        f->thread = h->allocated_by;
    }
    add(f);
}

/* A constructor has failed. That does not depend on the order of threads, and there is no schedule to show: the program
 * cannot start. */
_Noreturn void mz_failed_before_main(const char *what, const char *file, unsigned line)
{
    if (!rt.channel && !mz_find_channel(environ)) mz_quit(2);
    char *text = rt.channel->end_text, *t = text, *end = t + sizeof rt.channel->end_text;
    t = mz_text_add(mz_text_add(t, end, what), end, ", before main");
    if (file) t = mz_text_add(mz_text_add(mz_text_add(t, end, ", at "), end, file), end, ":");
    if (file) mz_text_number(t, end, line, 10);
    if (rt.standalone) {
        mz_print("mazurka: ");
        mz_print(text);
        mz_print("\n");
    }
    mz_quit(2);
}

_Noreturn void mz_unsupported_at(const char *call, const char *instead, const struct mz_place *place)
{
    if (rt.trial) mz_fiber_leave();
    if (!rt.channel && !mz_find_channel(environ)) mz_quit(2); /* called by a constructor, before main */
    char *t = rt.channel->end_text, *end = t + sizeof rt.channel->end_text;
    t = mz_text_add(t, end, call);
    t = mz_text_add(t, end, " is not supported: ");
    mz_text_add(t, end, instead);
    rt.channel->end_place = *place;
    mz_end_all(MZ_END_UNSUPPORTED);
}

_Noreturn void mz_unsupported(const char *call, const char *instead)
{
    struct mz_place place = {{0}};
    if (rt.active) mz_record_place(&place, MZ_FRAME());
    mz_unsupported_at(call, instead, &place);
}
