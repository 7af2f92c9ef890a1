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
 *  - a function that makes a pointer to its frame: whoever gets it may read all of it. (Then only
 *    registers are told apart.)
 *  - more than MOST instructions, slots that are further than WINDOW bytes from the frame pointer;
 *  - a stack pointer that is not where it should be;
 *  - functions that can be left in other ways than by returning (exceptions, longjmp).
 *
 * What a function passes on the stack lies below all slots that it addresses through the frame pointer, and is
 * never said to be dead. */
#include "decode.h"
#include "liveness.h"

#include "../base/region.h"

#define CACHE  4096u
#define MOST   4096u /* instructions of a function */
#define WINDOW (8 * MZ_LIVE_WORDS)

struct live {
    uint32_t registers;
    uint64_t bytes[MZ_LIVE_WORDS / 8]; /* bit k of all: the byte k + 1 below the frame pointer */
};

struct code { /* one instruction of the function */
    struct mz_instruction i;
    uint32_t target; /* index; NOWHERE: none, OUTSIDE: in another function */
    int32_t sp;      /* before it: from the frame pointer if there is a frame, else from where it was at entry */
    bool framed, reached;
    struct live in;
};

#define NOWHERE UINT32_MAX
#define OUTSIDE (UINT32_MAX - 1)

static struct {
    struct code *code; /* of the function that is looked at */
    uint16_t *index;   /* of the instruction that begins so many bytes after its start, plus one */
    uint32_t count;
    const uint8_t *start, *end;
    int32_t lowest; /* slot that is addressed through the frame pointer */
    bool escapes;   /* there may be pointers to the frame */
    struct mz_live *cache;
} lv;

#define MOST_BYTES (MOST * 8u)

/* ---- the function as instructions ---- */

static bool names_frame(const struct mz_instruction *i)
{
    const uint32_t pointers = 1u << MZ_RSP | 1u << MZ_RBP;
    if (i->base != MZ_RSP && i->base != MZ_RBP) return i->address & pointers;
    return i->names || i->indexed;
}

/* Rsp and rbp themselves are only touched by what decode.c knows as a change of the stack. */
static bool touches_pointers(const struct mz_instruction *i)
{
    bool own = (i->stack == MZ_STACK_PUSH && i->read == 1u << MZ_RBP) ||
               (i->stack == MZ_STACK_POP && i->written == 1u << MZ_RBP);
    return !own && (i->read | i->written) & (1u << MZ_RSP | 1u << MZ_RBP);
}

static bool decode_all(void)
{
    lv.count = 0;
    lv.lowest = 0;
    lv.escapes = false;
    mz_raw_memset(lv.index, 0, (size_t)(lv.end - lv.start) * sizeof *lv.index);
    for (const uint8_t *p = lv.start; p < lv.end;) {
        if (lv.count == MOST) return false;
        struct code *c = &lv.code[lv.count++];
        *c = (struct code){.i = mz_decode(p), .target = NOWHERE};
        bool jumps = !c->i.known && *p == 0xff; /* through a register: the function may go on anywhere */
        if (c->i.next > lv.end || touches_pointers(&c->i)) return false;
        if (!c->i.known && !jumps) return false;
        lv.index[p - lv.start] = (uint16_t)lv.count;
        if (c->i.known && names_frame(&c->i)) lv.escapes = true;
        if (c->i.base == MZ_RBP && c->i.offset < lv.lowest && c->i.loads + c->i.stores)
            lv.lowest = c->i.offset;
        p = c->i.next;
    }
    return true;
}

static bool find_targets(void)
{
    for (uint32_t n = 0; n < lv.count; n++) {
        const uint8_t *to = lv.code[n].i.target;
        if (!to) continue;
        if (to < lv.start || to >= lv.end)
            lv.code[n].target = OUTSIDE;
        else if (!lv.index[to - lv.start])
            return false;
        else
            lv.code[n].target = lv.index[to - lv.start] - 1u;
    }
    return true;
}

/* ---- the stack pointer, forwards ---- */

/* Returns false if two ways to an instruction do not agree. */
static bool arrive(uint32_t n, int32_t sp, bool framed, uint32_t *todo, uint32_t *count)
{
    struct code *c = &lv.code[n];
    if (c->reached) return c->sp == sp && c->framed == framed;
    c->reached = true;
    c->sp = sp;
    c->framed = framed;
    todo[(*count)++] = n;
    return true;
}

/* What it is after the instruction. */
static bool change_stack(const struct code *c, int32_t *sp, bool *framed)
{
    bool rbp = c->i.written == 1u << MZ_RBP;
    *sp = c->sp;
    *framed = c->framed;
    switch (c->i.stack) {
    case MZ_STACK_PUSH:
        *sp -= 8;
        return true;
    case MZ_STACK_POP:
        *sp += 8;
        if (rbp && (!c->framed || c->sp)) return false;
        if (rbp) *framed = false, *sp = 0;
        return true;
    case MZ_STACK_MOVE:
        *sp += c->i.offset;
        return true;
    case MZ_STACK_LOAD:
        *sp = c->i.offset;
        return c->framed;
    case MZ_STACK_FRAME:
        *framed = true;
        *sp = 0;
        return !c->framed && c->sp == -8;
    case MZ_STACK_LEAVE:
        *framed = false;
        *sp = 0;
        return c->framed;
    default:
        return true;
    }
}

static bool follow_stack(void)
{
    static uint32_t todo[MOST + 1];
    uint32_t count = 0;
    arrive(0, 0, false, todo, &count);
    while (count) {
        const uint32_t n = todo[--count];
        const struct code *c = &lv.code[n];
        int32_t sp;
        bool framed;
        if (!c->i.known) continue;
        if (!change_stack(c, &sp, &framed)) return false;
        if (c->target == OUTSIDE && framed) return false; /* the rest of it is elsewhere */
        if (c->target < OUTSIDE && !arrive(c->target, sp, framed, todo, &count)) return false;
        if (!c->i.ends && n + 1 < lv.count && !arrive(n + 1, sp, framed, todo, &count)) return false;
    }
    return true;
}

/* Registers of the caller that the function has put away, too. */
static void find_lowest(void)
{
    for (uint32_t n = 0; n < lv.count; n++) {
        const struct code *c = &lv.code[n];
        bool restores = c->i.stack == MZ_STACK_POP && (c->i.written & MZ_SURVIVING);
        if (restores && c->reached && c->framed && c->sp < lv.lowest) lv.lowest = c->sp;
    }
}

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

/* Where the operand in memory is, from the frame pointer; false: not in the frame. */
static bool place(const struct code *c, int32_t *at)
{
    if (lv.escapes || !c->framed || (c->i.base != MZ_RBP && c->i.base != MZ_RSP)) return false;
    *at = c->i.offset + (c->i.base == MZ_RSP ? c->sp : 0);
    return true;
}

struct effect {
    struct live reads, overwrites;
    bool anywhere; /* it also writes to what is not in the sets */
};

static struct effect effect_of(const struct code *c)
{
    struct effect e = {.reads = {.registers = c->i.read & MZ_SURVIVING},
                       .overwrites = {.registers = c->i.written & MZ_SURVIVING}};
    struct live l;
    int32_t at;
    bool here = place(c, &at);
    e.anywhere = (c->i.written & ~MZ_SURVIVING) || (c->i.stores && (!here || !in_window(at, c->i.stores)));
    if (here && c->i.loads) l = span(at, c->i.loads), add_live(&e.reads, &l);
    if (here && c->i.stores) l = span(at, c->i.stores), add_live(&e.overwrites, &l);
    here = c->framed && !lv.escapes;
    if (c->i.stack == MZ_STACK_PUSH && here) l = span(c->sp - 8, 8), add_live(&e.overwrites, &l);
    if (c->i.stack == MZ_STACK_PUSH && !(here && in_window(c->sp - 8, 8))) e.anywhere = true;
    if (c->i.stack == MZ_STACK_POP && here) l = span(c->sp, 8), add_live(&e.reads, &l);
    return e;
}

static struct live before(const struct code *c, struct live after)
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
    const struct code *c = &lv.code[n];
    struct live l = {0, {0}}, left = {at_return, {0}};
    if (!c->i.known) return everything;
    if (c->i.returns || c->target == OUTSIDE) add_live(&l, &left); /* to outside: as if it called and returned */
    if (c->target < OUTSIDE) add_live(&l, &lv.code[c->target].in);
    if (c->i.ends) return l;
    if (n + 1 < lv.count)
        add_live(&l, &lv.code[n + 1].in);
    else if (!c->i.calls) /* nothing comes back from what is called at the very end */
        return everything;
    return l;
}

static void solve(uint32_t at_return)
{
    for (uint32_t n = 0; n < lv.count; n++) lv.code[n].in = (struct live){0, {0}};
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t n = lv.count; n--;) {
            struct code *c = &lv.code[n];
            struct live now = c->i.known ? before(c, after(n, at_return)) : everything;
            if (!mz_raw_memcmp(&now, &c->in, sizeof now)) continue;
            c->in = now;
            changed = true;
        }
    }
}

/* ---- answers ---- */

static struct mz_live *cached(uint64_t pc, uint32_t at_return)
{
    return &lv.cache[((pc ^ (uint64_t)at_return << 40) * 0x9e3779b97f4a7c15ull >> 52) % CACHE];
}

static void describe(struct mz_live *l, const struct code *c)
{
    l->registers = c->in.registers;
    l->sp = c->sp;
    l->words = lv.escapes || c->sp > lv.lowest ? 0 : (uint32_t)(7 - lv.lowest) / 8;
    if (l->words > MZ_LIVE_WORDS) l->words = MZ_LIVE_WORDS;
    for (unsigned w = 0; w < l->words; w++) {
        uint64_t mask = 0;
        for (unsigned b = 0; b < 8; b++) { /* byte b of the word from above is bit 8 w + b */
            unsigned bit = 8 * w + b;
            if (bit >= (uint32_t)-lv.lowest || c->in.bytes[bit / 64] >> bit % 64 & 1) mask |= 0xffull << (56 - 8 * b);
        }
        l->mask[w] = mask;
    }
}

/* All of the function is looked at, so all places in it where calls return to are answered. */
static bool look_at(uint64_t pc, uint32_t at_return)
{
    uint64_t start, end;
    if (rt.unwinds || !mz_globals_function(pc, &start, &end) || end - start > MOST_BYTES) return false;
    lv.start = (const uint8_t *)start;
    lv.end = (const uint8_t *)end;
    if (!decode_all() || !lv.count || !find_targets() || !follow_stack()) return false;
    find_lowest();
    solve(at_return);
    for (uint32_t n = 1; n < lv.count; n++) {
        const struct code *c = &lv.code[n];
        uint64_t place_of = (uintptr_t)lv.code[n - 1].i.next;
        if (!lv.code[n - 1].i.calls || !c->reached || !c->framed) continue;
        struct mz_live *l = cached(place_of, at_return);
        *l = (struct mz_live){.pc = place_of, .at_return = at_return, .known = true};
        describe(l, c);
    }
    return true;
}

void mz_live_init(void)
{
    lv.code = mz_region_reserve(MOST * sizeof *lv.code);
    lv.index = mz_region_reserve(MOST_BYTES * sizeof *lv.index);
    lv.cache = mz_region_reserve(CACHE * sizeof *lv.cache);
    MZ_ASSERT(lv.code && lv.index && lv.cache);
}

const struct mz_live *mz_live_at(uint64_t pc, int64_t sp, uint32_t at_return)
{
    struct mz_live *l = cached(pc, at_return);
    if (mz_unlikely(l->pc != pc || l->at_return != at_return)) {
        look_at(pc, at_return);
        if (l->pc != pc || l->at_return != at_return)
            *l = (struct mz_live){.pc = pc, .at_return = at_return, .known = false};
    }
    return l->known && l->sp == sp ? l : NULL;
}
