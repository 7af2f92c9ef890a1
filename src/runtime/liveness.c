/* What still matters of the frames of the program, where it has called us.
 *
 * A compiler leaves old values in registers and in slots of the frame that it will not read again. They would
 * tell states apart that are the same (state.c). So the code of the function is read, and what is overwritten
 * on all ways before it is read is dead: liveness, as compilers know it, over the registers that survive
 * calls and over the bytes of the frame. (Faint values count as dead: what is only copied to where it is
 * dead.) "Alive" is always right, and is the answer whenever something is not understood:
 *
 *  - a function without symbol or without a frame pointer; an instruction that decode.c does not know; a jump
 *    to another function with the frame still there;
 *  - a function whose frame escapes, see function.c: then only registers are told apart;
 *  - more than MOST instructions, slots that are further than WINDOW bytes from the frame pointer;
 *  - a stack pointer that is not where it should be;
 *  - functions that can be left in other ways than by returning (exceptions, longjmp).
 *
 * What is below all slots that a function addresses through the frame pointer is never said to be dead. */
#include "liveness.h"
#include "function.h"

#include "../base/region.h"

#define CACHE  4096u
#define MOST   4096u /* instructions of a function */
#define WINDOW (8 * MZ_LIVE_WORDS)

struct live {
    uint32_t registers;
    uint64_t bytes[MZ_LIVE_WORDS / 8]; /* bit k of all: the byte k + 1 below the frame pointer */
};

static struct {
    struct mz_function f; /* the one that is looked at */
    struct live *in;      /* before each of its instructions */
    struct mz_live *cache;
} lv;

/* ---- liveness, backwards ---- */

static const struct live everything = {MZ_SURVIVING, {~0ull, ~0ull, ~0ull, ~0ull}};

/* The bytes from `at` on, from the frame pointer, as bits. */
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
    bool anywhere; /* it also writes to what is not in the sets */
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
        add_live(&l, &left); /* outside: as if it called and returned */
    if (c->target < MZ_OUTSIDE) add_live(&l, &lv.in[c->target]);
    if (c->i.ends) return l;
    if (n + 1 < lv.f.count)
        add_live(&l, &lv.in[n + 1]);
    else if (!c->i.calls) /* nothing comes back from what is called at the very end */
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

/* ---- answers ---- */

static struct mz_live *cached(uint64_t pc, uint32_t at_return)
{
    return &lv.cache[((pc ^ (uint64_t)at_return << 40) * 0x9e3779b97f4a7c15ull >> 52) % CACHE];
}

static void describe(struct mz_live *l, uint32_t n)
{
    const struct live *in = &lv.in[n];
    uint32_t known = (uint32_t)-lv.f.lowest; /* bytes */
    l->registers = in->registers;
    l->sp = lv.f.code[n].sp;
    l->words = lv.f.escapes || l->sp > lv.f.lowest ? 0 : (known + 7) / 8;
    if (l->words > MZ_LIVE_WORDS) l->words = MZ_LIVE_WORDS;
    for (unsigned w = 0; w < l->words; w++) {
        uint64_t mask = 0;
        for (unsigned b = 0; b < 8; b++) { /* byte b of the word from above is bit 8 w + b */
            unsigned bit = 8 * w + b;
            if (bit >= known || in->bytes[bit / 64] >> bit % 64 & 1) mask |= 0xffull << (56 - 8 * b);
        }
        l->mask[w] = mask;
    }
}

/* All of the function is looked at, so all places in it where calls return to are answered. */
static void look_at(uint64_t pc, uint32_t at_return)
{
    uint64_t start, end;
    if (rt.unwinds || !mz_globals_function(pc, &start, &end) || !mz_function_read(&lv.f, start, end)) return;
    solve(at_return);
    for (uint32_t n = 1; n < lv.f.count; n++) {
        const struct mz_code *c = &lv.f.code[n];
        uint64_t returns_to = (uintptr_t)c[-1].i.next;
        if (!c[-1].i.calls || !c->reached || !c->framed) continue;
        struct mz_live *l = cached(returns_to, at_return);
        *l = (struct mz_live){.pc = returns_to, .at_return = at_return, .known = true};
        describe(l, n);
    }
}

void mz_live_init(void)
{
    mz_function_init();
    lv.in = mz_region_reserve(MOST * sizeof *lv.in);
    lv.cache = mz_region_reserve(CACHE * sizeof *lv.cache);
    MZ_ASSERT(lv.in && lv.cache);
}

const struct mz_live *mz_live_at(uint64_t pc, int64_t sp, uint32_t at_return)
{
    struct mz_live *l = cached(pc, at_return);
    if (mz_unlikely(rt.channel->options.leaks)) return NULL; /* leaks.c looks at dead slots, too */
    if (mz_unlikely(l->pc != pc || l->at_return != at_return)) {
        look_at(pc, at_return);
        if (l->pc != pc || l->at_return != at_return)
            *l = (struct mz_live){.pc = pc, .at_return = at_return, .known = false};
    }
    return l->known && l->sp == sp ? l : NULL;
}
