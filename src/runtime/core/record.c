/* Places (call stacks), and the detailed record of one execution, from which the command makes reports. Only
 * a replay records; the search records nothing. Any file may call MZ_RECORD. */
#include "runtime/core/room.h"
#include "runtime/memory/heap.h"

static bool in_stack(int slot, const void *frame)
{
    return mz_fiber_stack_contains(slot, (uintptr_t)frame) && (uintptr_t)frame % 8 == 0;
}

/* Follow the chain of frame pointers from `frame`, and store the return addresses in *place. Frames of this
 * library are left out. */
void mz_walk(struct mz_place *place, int slot, const void *frame)
{
    int n = 0;
    const void *const *f = frame;
    while (n < MZ_MAX_FRAMES && in_stack(slot, f) && f[1]) {
        uint64_t pc = (uintptr_t)f[1];
        if (!mz_is_ours(pc)) place->pc[n++] = pc;
        if ((const void *)f[0] <= (const void *)f) break;
        f = f[0];
    }
    if (n < MZ_MAX_FRAMES) place->pc[n] = 0;
}

/* Store the call stack of the running thread. Do not call it in a signal handler. */
void mz_record_place(struct mz_place *place, const void *frame)
{
    mz_walk(place, rt.self, frame);
    mz_cxx_walk(place);
}

/* Where each thread gave way. The unwinder can walk only the stack of the running thread, so a thread stores
 * its call stack before it gives way. */
#define left mz_core_room.record.left

void mz_record_leave(void) { mz_record_place(&left[rt.self], MZ_FRAME()); }

void mz_place_left(struct mz_place *place, int slot)
{
    if (rt.recording)
        *place = left[slot];
    else
        mz_place_of(place, slot);
}

/* Store the call stack of a fiber that does not run. Its frame pointer is in the struct mz_parked at its
 * stack pointer. */
void mz_place_of(struct mz_place *place, int slot)
{
    const void *const *sp = rt.slots[slot].sp;
    place->pc[0] = 0;
    if (in_stack(slot, sp)) mz_walk(place, slot, sp[1]);
}

/* If the object is on a stack, find the call whose frame contains it, so that a report can name the variable.
 * *pc: a return address into the function. *cfa: the canonical frame address, 16 above the saved frame
 * pointer, where the frame ends. Both are 0 if there is no such call. */
static void find_frame(uint64_t object, const void *frame, uint64_t *pc, uint64_t *cfa)
{
    int slot = mz_fiber_stack_owner(object);
    *pc = *cfa = 0;
    if (slot < 0) return;
    const void *const *f = frame, *const *sp = rt.slots[slot].sp;
    if (slot != rt.self) f = in_stack(slot, sp) ? sp[1] : NULL;
    uint64_t inside = 0; /* return address into the function of frame f */
    while (f && in_stack(slot, f)) {
        if ((uintptr_t)(f + 2) > object && inside && !mz_is_ours(inside)) {
            *pc = inside;
            *cfa = (uintptr_t)(f + 2);
            return;
        }
        inside = (uintptr_t)f[1];
        if ((const void *)f[0] <= (const void *)f) return;
        f = f[0];
    }
}

void mz_finding_frame(struct mz_finding *f, const void *frame)
{
    find_frame(f->address, frame, &f->frame_pc, &f->frame_cfa);
}

void mz_record(int op, uint64_t object, unsigned size, uint32_t flags, uint64_t value, uint64_t value2,
               int other, const void *frame)
{
    struct mz_channel *c = rt.channel;
    if (c->record_count >= c->records_capacity) {
        c->record_lost++;
        return;
    }
    struct mz_record *r = (struct mz_record *)((char *)c + c->records_offset) + c->record_count++;
    *r = (struct mz_record){.op = (uint8_t)op,
                            .thread = rt.self,
                            .other = (uint8_t)other,
                            .size = size,
                            .step = rt.path->depth,
                            .flags = flags,
                            .object = object,
                            .value = value,
                            .value2 = value2};
    mz_record_place(&r->place, frame);
    find_frame(object, frame, &r->frame_pc, &r->frame_cfa);
}

/* ---- blocks of the heap ---- */

static struct mz_block_history *histories(void)
{
    return (struct mz_block_history *)((char *)rt.channel + rt.channel->blocks_offset);
}

struct mz_block_history *mz_history_of(const struct mz_block *b)
{
    struct mz_block_history *h = &histories()[b->history - 1];
    if (!rt.recording || !b->history || b->history > rt.channel->block_count) return NULL;
    return h->start == (uintptr_t)(b + 1) ? h : NULL;
}

static bool is_watched(const struct mz_block *b)
{
    const struct mz_options_block *o = &rt.channel->options;
    uint64_t start = (uintptr_t)(b + 1);
    return o->block_address == start || (o->race_address >= start && o->race_address < start + b->size);
}

void mz_history_allocated(struct mz_block *b, bool again, const void *frame)
{
    struct mz_channel *c = rt.channel;
    uint64_t start = (uintptr_t)(b + 1);
    if (again)
        mz_record(MZ_OP_MALLOC, start, b->size, 0, 0, 0, 0, frame);
    else if (is_watched(b))
        mz_record(MZ_OP_ALLOCATE, start, b->size, 0, 0, 0, 0, frame);
    if (c->block_count >= c->blocks_capacity) return;
    struct mz_block_history *h = &histories()[c->block_count++];
    b->history = c->block_count;
    *h = (struct mz_block_history){
        .start = start, .size = b->size, .since = c->record_count, .allocated_by = rt.self};
    mz_record_place(&h->allocated, frame);
}

void mz_history_freed(struct mz_block *b, bool again, const void *frame)
{
    struct mz_block_history *h = mz_history_of(b);
    uint64_t start = (uintptr_t)(b + 1);
    if (again)
        mz_record(MZ_OP_FREE, start, b->size, 0, 0, 0, 0, frame);
    else if (is_watched(b))
        mz_record(MZ_OP_DEALLOCATE, start, b->size, 0, 0, 0, 0, frame);
    if (!h) return;
    h->is_freed = 1;
    h->freed_by = rt.self;
    mz_record_place(&h->freed, frame);
}
