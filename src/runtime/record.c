/* Places (call stacks), and the detailed record of one execution that `mazurka replay` and reports are made
 * of. Exploring records nothing. */
#include "runtime.h"

static bool in_stack(int slot, const void *frame)
{
    return mz_fiber_stack_contains(slot, (uintptr_t)frame) && (uintptr_t)frame % 8 == 0;
}

/* Follow the chain of frame pointers from `frame`; frames of this library at its start are left out. */
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

void mz_record_place(struct mz_place *place, const void *frame) { mz_walk(place, rt.self, frame); }

/* Where a fiber that does not run is: the switch left its frame pointer above the stack pointer. */
void mz_place_of(struct mz_place *place, int slot)
{
    const void *const *sp = rt.slots[slot].sp;
    place->pc[0] = 0;
    if (in_stack(slot, sp)) mz_walk(place, slot, sp[1]);
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
}
