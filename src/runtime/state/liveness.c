/* Finds the registers and frame slots of the program that still matter when the program has called the
 * runtime.
 *
 * A compiler leaves old values in registers and in frame slots that the code will not read again. Such values
 * would make equal states look different (state.c). So this file reads the machine code of the function: a
 * value that is overwritten on every path before it is read is dead. This is the liveness analysis of
 * compilers, over the registers that survive calls and over the bytes of the frame. (Faint values count as
 * dead: values that are only copied to a dead place.) "Alive" is always a correct answer, and it is the
 * answer whenever something is not understood:
 *
 *  - a function without a symbol or without a frame pointer; an instruction that decode.c does not know; a jump to
 *    another function while the frame still exists;
 *  - a function whose frame escapes, see function.c: then only registers can be dead;
 *  - a function of more than MOST instructions; slots further than WINDOW bytes from the frame pointer;
 *  - a stack pointer that is not where the code says it is;
 *  - a program whose functions can be left without returning (exceptions, longjmp).
 *
 * Bytes of a private frame that the function never addresses (they are there for alignment) are dead.
 *
 * Answers are cached by (pc, at_return). Invariants of the cache:
 *   I1  The answer for a pair is a function of the program's code. An answer that is not in the cache is
 *       computed again; earlier questions never change an answer. Otherwise equal states would get different
 *       identities.
 *   I2  An answer lies within PROBES slots of its home slot, and no slot before it is empty: slots are replaced, never
 *       emptied.
 *   I3  An answer given in the current walk is not replaced. A walk asks for at most MZ_LIVE_FRAMES answers, and PROBES
 *       is not less, so a new answer always finds a slot. */
#include "runtime/state/liveness.h"
#include "base/region.h"
#include "runtime/memory/memory.h"
#include "runtime/state/function.h"
#include "runtime/state/room.h"

#define CACHE_BITS 14
#define CACHE      (1u << CACHE_BITS)
#define PROBES     MZ_LIVE_FRAMES
#define MOST       4096u /* instructions of a function */
#define WINDOW     (8 * MZ_LIVE_WORDS)

struct live {
    uint32_t registers;
    uint64_t bytes[MZ_LIVE_WORDS / 8]; /* bit k of the array: the byte k + 1 below the frame pointer */
};

#define lv mz_state_room.liveness

/* ---- liveness, backwards ---- */

static const struct live everything = {MZ_SURVIVING, {[0 ... MZ_LIVE_WORDS / 8 - 1] = ~0ull}};

/* Returns the `size` bytes at offset `at` from the frame pointer, as bits. */
static struct live span(int32_t at, uint32_t size)
{
    struct live l = {0, {0}};
    for (int32_t b = at; b < at + (int32_t)size; b++)
        if (b < 0 && b >= -(int32_t)WINDOW) l.bytes[(-1 - b) / 64] |= 1ull << ((-1 - b) % 64);
    return l;
}

static void add_live(struct live *l, const struct live *x)
{
    l->registers |= x->registers;
    for (unsigned w = 0; w < MZ_LIVE_WORDS / 8; w++) l->bytes[w] |= x->bytes[w];
}

static bool meet(const struct live *a, const struct live *b)
{
    bool common = a->registers & b->registers;
    for (unsigned w = 0; w < MZ_LIVE_WORDS / 8; w++) common |= (a->bytes[w] & b->bytes[w]) != 0;
    return common;
}

static bool in_window(int32_t at, uint32_t size) { return at + (int32_t)size <= 0 && at >= -(int32_t)WINDOW; }

struct effect {
    struct live reads, overwrites;
    bool anywhere; /* the instruction also writes to places that are not in the sets */
};

static struct effect effect_of(const struct mz_code *c)
{
    struct effect e = {.reads = {.registers = c->i.read & MZ_SURVIVING},
                       .overwrites = {.registers = c->i.written & MZ_SURVIVING}};
    struct live l;
    int32_t at = lv.f.escapes ? MZ_NO_PLACE : mz_code_place(c);
    bool stores = c->i.stores || c->i.stack == MZ_STACK_PUSH;
    uint8_t size = c->i.stores;
    if (at != MZ_NO_PLACE && c->i.loads) l = span(at, c->i.loads), add_live(&e.reads, &l);
    if (c->i.stack == MZ_STACK_PUSH) at = c->framed && !lv.f.escapes ? c->sp - 8 : MZ_NO_PLACE, size = 8;
    if (at != MZ_NO_PLACE && stores) l = span(at, size), add_live(&e.overwrites, &l);
    e.anywhere = (c->i.written & ~MZ_SURVIVING) || (stores && (at == MZ_NO_PLACE || !in_window(at, size)));
    if (c->i.stack == MZ_STACK_POP && c->framed) l = span(c->sp, 8), add_live(&e.reads, &l);
    return e;
}

static struct live before(const struct mz_code *c, struct live after)
{
    struct effect e = effect_of(c);
    bool matters = !c->i.copies || e.anywhere || meet(&after, &e.overwrites);
    after.registers &= ~e.overwrites.registers;
    for (unsigned w = 0; w < MZ_LIVE_WORDS / 8; w++) after.bytes[w] &= ~e.overwrites.bytes[w];
    if (matters) add_live(&after, &e.reads);
    after.registers |= c->i.address & MZ_SURVIVING;
    return after;
}

static struct live after(uint32_t n, uint32_t at_return)
{
    const struct mz_code *c = &lv.f.code[n];
    struct live l = {0, {0}}, left = {at_return, {0}};
    if (c->i.returns || c->target == MZ_OUTSIDE)
        add_live(&l, &left); /* a jump to outside: like a call followed by a return */
    if (c->target < MZ_OUTSIDE) add_live(&l, &lv.in[c->target]);
    if (c->i.ends) return l;
    if (n + 1 < lv.f.count)
        add_live(&l, &lv.in[n + 1]);
    else if (!c->i.calls) /* a call as the last instruction does not return */
        return everything;
    return l;
}

static void solve(uint32_t at_return)
{
    for (uint32_t n = 0; n < lv.f.count; n++) lv.in[n] = (struct live){0, {0}};
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t n = lv.f.count; n--;) {
            const struct mz_code *c = &lv.f.code[n];
            struct live now = c->i.known ? before(c, after(n, at_return)) : everything;
            if (!mz_raw_memcmp(&now, &lv.in[n], sizeof now)) continue;
            lv.in[n] = now;
            changed = true;
        }
    }
}

/* ---- the cache ---- */

static struct mz_live *slot_of(uint64_t pc, uint32_t at_return, uint32_t probe)
{
    uint64_t home = (pc ^ (uint64_t)at_return << 40) * 0x9e3779b97f4a7c15ull >> (64 - CACHE_BITS);
    return &lv.cache[(home + probe) % CACHE];
}

/* Returns the answer for the pair, else an empty slot for it, else NULL. */
static struct mz_live *find(uint64_t pc, uint32_t at_return)
{
    for (uint32_t probe = 0; probe < PROBES; probe++) {
        struct mz_live *l = slot_of(pc, at_return, probe);
        if (mz_likely((l->pc == pc && l->at_return == at_return) || !l->pc)) return l;
    }
    return NULL;
}

/* Returns the slot within PROBES whose answer was not asked for the longest time: not in this walk (I3). */
static struct mz_live *oldest(uint64_t pc, uint32_t at_return)
{
    struct mz_live *found = slot_of(pc, at_return, 0);
    for (uint32_t probe = 1; probe < PROBES; probe++) {
        struct mz_live *l = slot_of(pc, at_return, probe);
        if (l->walk < found->walk) found = l;
    }
    MZ_ASSERT(found->walk < lv.walk);
    return found;
}

/* ---- answers ---- */

static void describe(struct mz_live *l, uint32_t n)
{
    const struct live *in = &lv.in[n];
    int32_t sp = lv.f.code[n].sp;
    l->registers = in->registers;
    l->sp = sp;
    l->words = lv.f.escapes || sp > lv.f.lowest ? 0 : (uint32_t)-sp / 8;
    if (l->words > MZ_LIVE_WORDS) l->words = MZ_LIVE_WORDS;
    for (unsigned w = 0; w < l->words; w++) {
        uint64_t mask = 0;
        for (unsigned b = 0; b < 8; b++) { /* byte b of the word, from above, is bit 8 w + b */
            unsigned bit = 8 * w + b;
            if (in->bytes[bit / 64] >> bit % 64 & 1) mask |= 0xffull << (56 - 8 * b);
        }
        l->mask[w] = mask;
    }
}

/* Is instruction n the return address of a call, with the frame in place? */
static bool is_answer(uint32_t n)
{
    const struct mz_code *c = &lv.f.code[n];
    return c[-1].i.calls && c->reached && c->framed;
}

static void put(struct mz_live *l, uint32_t n, uint32_t at_return)
{
    *l = (struct mz_live){.pc = (uintptr_t)lv.f.code[n - 1].i.next, .at_return = at_return, .known = true};
    describe(l, n);
}

/* Analyses the function around pc, and stores the answer for pc in `l`. The analysis covers the whole
 * function, so the answers for its other calls are stored, too, where slots are empty. */
static void look_at(struct mz_live *l, uint64_t pc, uint32_t at_return)
{
    uint64_t start, end;
    *l = (struct mz_live){.pc = pc, .at_return = at_return, .known = false};
    if (rt.uses.unwinding || !mz_globals_function(pc, &start, &end) || !mz_function_read(&lv.f, start, end))
        return;
    solve(at_return);
    for (uint32_t n = 1; n < lv.f.count; n++) {
        uint64_t returns_to = (uintptr_t)lv.f.code[n - 1].i.next;
        struct mz_live *other = is_answer(n) ? find(returns_to, at_return) : NULL;
        if (other && (other == l || !other->pc)) put(other, n, at_return);
    }
}

void mz_live_init(void)
{
    mz_function_init();
    lv.in = mz_region_reserve(MOST * sizeof *lv.in);
    lv.cache = mz_region_reserve(CACHE * sizeof *lv.cache);
    MZ_ASSERT(lv.in && lv.cache);
}

void mz_live_walk(void) { lv.walk++; }

const struct mz_live *mz_live_at(uint64_t pc, int64_t sp, uint32_t at_return)
{
    if (mz_unlikely(rt.channel->options.leaks)) return NULL; /* leaks.c reads dead slots, too */
    struct mz_live *l = find(pc, at_return);
    if (mz_unlikely(!l)) l = oldest(pc, at_return);
    if (mz_unlikely(l->pc != pc || l->at_return != at_return)) look_at(l, pc, at_return);
    l->walk = lv.walk;
    return l->known && l->sp == sp ? l : NULL;
}
