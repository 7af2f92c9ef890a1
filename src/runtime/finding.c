/* Findings: what is wrong with the program. Written into the channel with the schedule that leads there.
 *
 * A finding ends its thread: the others run on to the end of the execution, which stays a proper, maximal one
 * that the reduction can learn from (with --keep-going). Without --keep-going the search stops at once. Two
 * findings with the same hash (kind and place) are one. */
#include "runtime.h"
#include "pthread_objects.h"

#include <signal.h>
#include <unistd.h>

extern char **environ;

static int holder_of(uint64_t object, uint8_t op, int slot)
{
    switch (op) {
    case MZ_OP_ONCE:
        return mz_once_runner(object);
    case MZ_OP_RDLOCK:
    case MZ_OP_WRLOCK:
        return mz_rwlock_holder(object, slot, op == MZ_OP_RDLOCK);
    default: /* the first word of mutexes and spin locks */
        return (int)*(const uint32_t *)object - 1;
    }
}

static void final_state(struct mz_thread_final *to, int slot)
{
    const struct mz_thread *t = &rt.run.threads[slot];
    to->state = t->state;
    to->holder = -1;
    to->op = rt.view.pending[slot].op;
    to->object = 0;
    switch ((enum mz_thread_state)t->state) {
    case MZ_THREAD_LOCKING:
        to->object = t->wait_object;
        to->holder = (int8_t)holder_of(t->wait_object, to->op, slot);
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

/* A finding under construction; it counts once it is added. */
static struct mz_finding *begin(enum mz_kind kind)
{
    struct mz_channel *c = rt.channel;
    if (rt.trial) mz_fiber_leave(); /* the thread goes on, in executions that are explored too */
    struct mz_finding *f = &c->findings[c->finding_count];
    mz_raw_memset(f, 0, sizeof *f);
    f->kind = kind;
    f->thread = rt.self;
    f->execution = mz_explore_counters(rt.x)->executions + 1;
    f->locations = mz_visible_count();
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
    mz_halt(MZ_THREAD_FAILED);
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

/* The thread goes on. */
void mz_finding_keep(enum mz_kind kind, const char *text, uint64_t address, uint64_t pc)
{
    struct mz_finding *f = mz_finding_begin(kind, text);
    f->address = address;
    mz_memory_describe(f);
    mz_record_place(&f->place, MZ_FRAME());
    if (!f->place.pc[0]) f->place.pc[0] = pc;
    add(f);
}

/* An address that was passed to free or realloc. */
_Noreturn void mz_finding_block(enum mz_kind kind, const char *text, uint64_t address)
{
    struct mz_finding *f = mz_finding_begin(kind, text);
    f->address = address;
    f->op = MZ_OP_DEALLOCATE;
    mz_memory_describe(f);
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
    f->place.pc[0] = pc + 1; /* places are return addresses */
    rt.run.failed |= (uint64_t)1 << rt.self;
    rt.run.threads[rt.self].state = MZ_THREAD_FAILED;
    add(f);
    mz_halt(MZ_THREAD_FAILED);
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

/* What the record says of the first access: its call stack, and the value that a write left there. */
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

/* The second access is about to happen at pc; the first one's whole place is known when replaying. */
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
    mz_memory_describe(f);
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
    if (rt.stop) mz_halt(MZ_THREAD_FAILED);
}

/* A replayed step did not meet the operation of before (`before`), or all steps did, but the state that they lead to
 * is another one (NULL). Nothing that follows could be trusted. */
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

/* program.h: threads go round for ever after the first `depth` steps. Where they are now is somewhere on
 * their round. After exit they may. */
void mz_finding_endless(void *system, uint32_t depth, uint64_t threads, uint64_t writers)
{
    (void)system, (void)writers; /* whether they change something: taking a lock for a moment does, too */
    uint32_t all = rt.path->depth;
    uint64_t there = threads & rt.view.alive;
    if (!there || rt.stop || rt.run.exited) return;
    rt.path->depth = depth;
    rt.self = (uint8_t)__builtin_ctzll(there);
    struct mz_finding *f = begin(MZ_KIND_LIVELOCK);
    mz_text_copy(f->text, sizeof f->text,
                 "threads go round for ever, and nothing that any thread does ends it");
    f->address = rt.view.pending[rt.self].key;
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

/* The place is that of the first block's allocation, which is known when replaying. */
void mz_finding_leak(uint64_t first, uint64_t blocks, uint64_t bytes)
{
    int slot = mz_heap_slot(first);
    rt.self = (uint8_t)slot;
    struct mz_finding *f = mz_finding_begin(MZ_KIND_LEAK, "nothing points to these blocks any more");
    f->address = first;
    f->code = (int32_t)blocks;
    mz_memory_describe(f);
    f->object_size = bytes;
    if (f->block) {
        const struct mz_block_history *h =
            (const struct mz_block_history *)((char *)rt.channel + rt.channel->blocks_offset) + f->block - 1;
        f->place = h->allocated;
        f->thread = h->allocated_by;
    }
    add(f);
}

/* The end of the whole check, not of an execution. */
static _Noreturn void end_all(enum mz_end end)
{
    rt.channel->end = end;
    rt.channel->end_thread = rt.self;
    if (rt.standalone) {
        mz_print("mazurka: ");
        mz_print(rt.channel->end_text);
        mz_print("\n");
    }
    mz_quit(2);
}

_Noreturn void mz_unsupported_at(const char *call, const char *instead, const struct mz_place *place)
{
    if (rt.trial) mz_fiber_leave();
    if (!rt.channel && !mz_find_channel(environ)) mz_quit(2); /* a constructor */
    char *t = rt.channel->end_text, *end = t + sizeof rt.channel->end_text;
    t = mz_text_add(t, end, call);
    t = mz_text_add(t, end, " is not supported: ");
    mz_text_add(t, end, instead);
    rt.channel->end_place = *place;
    end_all(MZ_END_UNSUPPORTED);
}

_Noreturn void mz_unsupported(const char *call, const char *instead)
{
    struct mz_place place = {{0}};
    if (rt.active) mz_record_place(&place, MZ_FRAME());
    mz_unsupported_at(call, instead, &place);
}

_Noreturn void mz_bug(const char *file, int line, const char *what)
{
    if (!rt.channel) {
        mz_print("mazurka: internal error: ");
        mz_print(what);
        mz_print("\n");
        mz_quit(2);
    }
    char *t = rt.channel->end_text, *end = t + sizeof rt.channel->end_text;
    t = mz_text_add(t, end, file);
    t = mz_text_add(t, end, ":");
    t = mz_text_number(t, end, (uint64_t)line, 10);
    t = mz_text_add(t, end, ": ");
    mz_text_add(t, end, what);
    end_all(MZ_END_INTERNAL);
}

/* Add the text to a list of `room` texts of `size` bytes each, unless it is there. False: the list is full. */
static bool add_text(char *list, int room, size_t size, const char *text)
{
    char fitting[MZ_LONG_TEXT];
    MZ_ASSERT(size <= sizeof fitting);
    mz_text_copy(fitting, size, text);
    for (int i = 0; i < room; i++, list += size) {
        if (!*list) mz_text_copy(list, size, fitting);
        if (!mz_text_differs(list, fitting)) return true;
    }
    return false;
}

/* A remark that the verdict does not depend on. */
void mz_note(const char *text) { add_text(rt.channel->notes[0], 8, MZ_TEXT, text); }

/* Something that the program does and the search does not see or model: it stands beside the verdict. */
void mz_unseen(const char *text)
{
    char *list = rt.channel->unseen[0], *last = rt.channel->unseen[MZ_MAX_UNSEEN - 1];
    if (!add_text(list, MZ_MAX_UNSEEN - 1, MZ_LONG_TEXT, text))
        mz_text_copy(last, MZ_LONG_TEXT, "more than is listed here");
}
