/* Reading a function of the program: its instructions, where the stack pointer is before each of them, and
 * which registers point into the frame.
 *
 * Pointers to the frame may be made, moved between registers, used, and lent to those hooks of ours that are
 * known to give them back (the expected value of a compare-exchange is an ordinary variable). Whatever else
 * is done with one means that the frame escapes: then anybody may read all of it. */
#include "function.h"

#include "../base/region.h"

#include <string.h>

#define MOST       4096u /* instructions */
#define MOST_BYTES (8 * MOST)
#define HOOKS      1024u

enum { RAX, RCX, RDX, RSI = 6, RDI = 7, R8 = 8, R9 = 9 };
#define BIT(r)      (1u << (r))
#define POINTERS    (BIT(MZ_RSP) | BIT(MZ_RBP))
#define ARGUMENTS   (BIT(RDI) | BIT(RSI) | BIT(RDX) | BIT(RCX) | BIT(R8) | BIT(R9))
#define AFTER_CALLS (MZ_SURVIVING | POINTERS)

static struct {
    struct mz_code *code;
    uint16_t *index; /* of the instruction that begins so many bytes after the start, plus one */
    uint32_t *todo;
    const uint8_t *start, *end;
    bool anywhere; /* it has jumps through registers */
} fn;

/* ---- hooks that give pointers back ---- */

/* Where the program keeps the address of a hook: each takes `lent` pointers as its first arguments, and has
 * so many arguments in all. */
static struct hook {
    uint64_t slot;
    uint8_t lent, arguments;
    uint8_t reads; /* bytes behind each of the pointers: plain accesses are only checked */
} hooks[HOOKS];
static uint32_t hook_count;

/* start.c: what a module of the program imports. */
void mz_function_import(uint64_t slot, const char *name)
{
    bool atomic = !strncmp(name, "__tsan_atomic", 13);
    bool cas = atomic && (strstr(name, "_compare_exchange_strong") || strstr(name, "_compare_exchange_weak"));
    bool plain = !strncmp(name, "__tsan_read", 11) || !strncmp(name, "__tsan_write", 12);
    if (hook_count == HOOKS || !(cas || (plain && !strstr(name, "range")))) return;
    unsigned bits = 0;
    for (const char *p = name + 13; cas && *p >= '0' && *p <= '9'; p++)
        bits = 10 * bits + (unsigned)(*p - '0');
    hooks[hook_count++] = (struct hook){slot, cas ? 2 : 1, cas ? 5 : 1, (uint8_t)(bits / 8)};
}

void mz_function_init(void)
{
    fn.code = mz_region_reserve(MOST * sizeof *fn.code);
    fn.index = mz_region_reserve(MOST_BYTES * sizeof *fn.index);
    fn.todo = mz_region_reserve(MOST * sizeof *fn.todo);
    MZ_ASSERT(fn.code && fn.index && fn.todo);
}

/* What the call calls: through a stub that jumps to an address that is kept. NULL: something else. */
static const struct hook *hook_called(const struct mz_code *c)
{
    const uint8_t *p = c->i.next - 5;
    int32_t far;
    if (*p != 0xe8) return NULL;
    mz_raw_memcpy(&far, p + 1, sizeof far);
    p = c->i.next + far;
    if (!mz_is_instrumented((uintptr_t)p)) return NULL;
    if (p[0] == 0xf3 && p[1] == 0x0f && p[2] == 0x1e && p[3] == 0xfa) p += 4; /* endbr64 */
    if (p[0] == 0xf2) p += 1;
    if (p[0] != 0xff || p[1] != 0x25) return NULL;
    mz_raw_memcpy(&far, p + 2, sizeof far);
    for (uint32_t i = 0; i < hook_count; i++)
        if (hooks[i].slot == (uintptr_t)p + 6 + (uint64_t)(int64_t)far) return &hooks[i];
    return NULL;
}

/* ---- instructions ---- */

/* Rsp and rbp themselves are only touched by what decode.c knows as a change of the stack. */
static bool touches_pointers(const struct mz_instruction *i)
{
    bool own = (i->stack == MZ_STACK_PUSH && i->read == BIT(MZ_RBP)) ||
               (i->stack == MZ_STACK_POP && i->written == BIT(MZ_RBP));
    return !own && (i->read | i->written) & POINTERS;
}

static bool decode_all(struct mz_function *f)
{
    f->count = 0;
    fn.anywhere = false;
    mz_raw_memset(fn.index, 0, (size_t)(fn.end - fn.start) * sizeof *fn.index);
    for (const uint8_t *p = fn.start; p < fn.end;) {
        if (f->count == MOST) return false;
        struct mz_code *c = &f->code[f->count++];
        *c = (struct mz_code){.i = mz_decode(p), .target = MZ_NOWHERE, .lent = {MZ_NO_PLACE, MZ_NO_PLACE}};
        if (!c->i.known && !c->i.anywhere) return false;
        if (c->i.next > fn.end || touches_pointers(&c->i)) return false;
        fn.anywhere |= c->i.anywhere;
        fn.index[p - fn.start] = (uint16_t)f->count;
        p = c->i.next;
    }
    return f->count > 0;
}

static bool find_targets(struct mz_function *f)
{
    for (uint32_t n = 0; n < f->count; n++) {
        const uint8_t *to = f->code[n].i.target;
        if (!to) continue;
        if (to < fn.start || to >= fn.end)
            f->code[n].target = MZ_OUTSIDE;
        else if (!fn.index[to - fn.start])
            return false;
        else
            f->code[n].target = fn.index[to - fn.start] - 1u;
    }
    return true;
}

/* ---- forwards: the stack pointer, and pointers to the frame ---- */

struct before { /* an instruction */
    int32_t sp;
    bool framed;
    int32_t points[MZ_PLACES];
};

static bool merge(int32_t *into, const int32_t *from)
{
    bool changed = false;
    for (unsigned r = 0; r < MZ_PLACES; r++) {
        if (into[r] == from[r] || into[r] == MZ_MAYBE) continue;
        into[r] = MZ_MAYBE;
        changed = true;
    }
    return changed;
}

/* Returns false if two ways to an instruction do not agree where the stack is. */
static bool arrive(struct mz_code *c, const struct before *b, uint32_t n, uint32_t *count)
{
    bool changed = true;
    if (c->reached) {
        if (c->sp != b->sp || c->framed != b->framed) return false;
        changed = merge(c->points, b->points);
    } else {
        c->reached = true;
        c->sp = b->sp;
        c->framed = b->framed;
        mz_raw_memcpy(c->points, b->points, sizeof c->points);
    }
    if (!changed || c->queued) return true;
    c->queued = true;
    fn.todo[(*count)++] = n;
    return true;
}

static bool change_stack(const struct mz_code *c, struct before *b)
{
    bool rbp = c->i.written == BIT(MZ_RBP);
    switch (c->i.stack) {
    case MZ_STACK_PUSH:
        b->sp -= 8;
        return true;
    case MZ_STACK_POP:
        b->sp += 8;
        if (rbp && (!c->framed || c->sp)) return false;
        if (rbp) b->framed = false, b->sp = 0;
        return true;
    case MZ_STACK_MOVE:
        b->sp += c->i.offset;
        return true;
    case MZ_STACK_LOAD:
        b->sp = c->i.offset;
        return c->framed;
    case MZ_STACK_FRAME:
        b->framed = true;
        b->sp = 0;
        return !c->framed && c->sp == -8;
    case MZ_STACK_LEAVE:
        b->framed = false;
        b->sp = 0;
        return c->framed;
    default:
        return true;
    }
}

int32_t mz_code_place(const struct mz_code *c)
{
    int32_t from = MZ_NO_PLACE;
    if (c->i.base == MZ_NO_BASE || !c->framed) return MZ_NO_PLACE;
    if (c->i.base == MZ_RBP)
        from = 0;
    else if (c->i.base == MZ_RSP)
        from = c->sp;
    else if (c->points[c->i.base] < MZ_MAYBE)
        from = c->points[c->i.base];
    return from == MZ_NO_PLACE ? from : from + c->i.offset;
}

/* The words of the frame that bytes lie in, as indices from .. to - 1 of `points`. */
static void words_of(int32_t at, unsigned size, unsigned *from, unsigned *to)
{
    const int32_t most = 8 * (int32_t)MZ_LIVE_WORDS;
    *from = *to = MZ_SLOT0;
    if (at >= 0 || !size || at + (int32_t)size <= -most) return;
    int32_t above = -(at + (int32_t)size), below = at < -most ? most : -at; /* bytes from the frame pointer */
    *from += above > 0 ? (unsigned)above / 8 : 0;
    *to += ((unsigned)below + 7) / 8;
}

/* The word of the frame that is loaded or stored as a whole; 0: none. */
static unsigned whole_word(const struct mz_code *c)
{
    unsigned from, to;
    int32_t at = mz_code_place(c);
    if (!c->i.copies || c->i.loads + c->i.stores != 8 || at % 8) return 0;
    words_of(at, 8, &from, &to);
    return to == from + 1 ? from : 0;
}

/* What is moved to where. */
static int32_t moved(const struct mz_code *c)
{
    unsigned word = whole_word(c);
    if (c->i.names) return c->i.indexed ? MZ_NO_PLACE : mz_code_place(c);
    if (word && c->i.loads) return c->points[word];
    return (word || c->i.moves) && c->i.read ? c->points[__builtin_ctz(c->i.read)] : MZ_NO_PLACE;
}

static void forget(struct before *b, int32_t at, unsigned size)
{
    unsigned from, to;
    words_of(at, size, &from, &to);
    for (; from < to; from++) b->points[from] = MZ_NO_PLACE;
}

static void move_pointers(const struct mz_code *c, struct before *b)
{
    unsigned word = c->i.stores ? whole_word(c) : 0;
    int32_t value = moved(c);
    for (unsigned r = 0; r < 16; r++)
        if (c->i.written & BIT(r) || (c->i.calls && !(AFTER_CALLS & BIT(r)))) b->points[r] = MZ_NO_PLACE;
    forget(b, mz_code_place(c), c->i.stores);
    if (c->i.stack == MZ_STACK_PUSH && c->framed) forget(b, c->sp - 8, 8);
    if (word)
        b->points[word] = value;
    else if (c->i.written)
        b->points[__builtin_ctz(c->i.written)] = value;
}

static bool go_forwards(struct mz_function *f)
{
    struct before b = {0, false, {0}};
    uint32_t count = 0;
    for (unsigned r = 0; r < MZ_PLACES; r++) b.points[r] = MZ_NO_PLACE;
    arrive(&f->code[0], &b, 0, &count);
    while (count) {
        const uint32_t n = fn.todo[--count];
        struct mz_code *c = &f->code[n];
        c->queued = false;
        if (!c->i.known) continue;
        b.sp = c->sp;
        b.framed = c->framed;
        mz_raw_memcpy(b.points, c->points, sizeof b.points);
        if (!change_stack(c, &b)) return false;
        move_pointers(c, &b);
        if (c->target == MZ_OUTSIDE && b.framed) return false; /* the rest of it is elsewhere */
        if (c->target < MZ_OUTSIDE && !arrive(&f->code[c->target], &b, c->target, &count)) return false;
        if (!c->i.ends && n + 1 < f->count && !arrive(&f->code[n + 1], &b, n + 1, &count)) return false;
    }
    return true;
}

/* ---- what becomes of the pointers ---- */

static uint32_t pointing(const struct mz_code *c)
{
    uint32_t set = 0;
    for (unsigned r = 0; r < 16; r++)
        if (c->points[r] != MZ_NO_PLACE) set |= BIT(r);
    return set;
}

static bool call_keeps(struct mz_code *c, uint32_t set)
{
    static const uint8_t order[] = {RDI, RSI, RDX, RCX, R8, R9};
    const struct hook *h = hook_called(c);
    if (!(set & ARGUMENTS)) return false;
    if (!h) return true;
    for (unsigned a = 0; a < h->arguments; a++) {
        int32_t to = c->points[order[a]];
        if (to == MZ_NO_PLACE) continue;
        if (a >= h->lent || to == MZ_MAYBE) return true;
        c->lent[a] = to;
        c->lent_bytes = rt.allow_races ? 16 : h->reads;
    }
    return false;
}

static bool has_pointer(const struct mz_code *c, int32_t at, unsigned size)
{
    unsigned from, to;
    words_of(at, size, &from, &to);
    for (; from < to; from++)
        if (c->points[from] != MZ_NO_PLACE) return true;
    return false;
}

/* A pointer that is in the frame is read, but not as it is, or by others. */
static bool reads_pointer(const struct mz_code *c)
{
    if (!whole_word(c) && has_pointer(c, mz_code_place(c), c->i.loads)) return true;
    if (c->i.stack == MZ_STACK_POP && c->framed && has_pointer(c, c->sp, 8)) return true;
    return has_pointer(c, c->lent[0], c->lent_bytes) || has_pointer(c, c->lent[1], c->lent_bytes);
}

/* Of an instruction that is reached. */
static bool lets_escape(struct mz_code *c)
{
    uint32_t set = pointing(c), base = c->i.base == MZ_NO_BASE ? 0 : BIT(c->i.base),
             used = set & c->i.address;
    bool to_frame = (base & POINTERS) || (used & base);
    if (c->i.indexed && (used || (c->i.address & POINTERS))) return true;
    if ((used & ~base) || (c->i.address & POINTERS & ~base)) return true; /* no base, but part of it */
    if (to_frame && mz_code_place(c) == MZ_NO_PLACE) return true;
    if (c->i.names && to_frame && !c->i.written) return true;
    if (set & c->i.read && !c->i.moves && !(c->i.stores && whole_word(c))) return true;
    if (c->i.calls && call_keeps(c, set)) return true;
    return reads_pointer(c);
}

static void note_lowest(struct mz_function *f, const struct mz_code *c)
{
    int32_t at = c->i.base != MZ_RSP ? mz_code_place(c) : MZ_NO_PLACE;
    bool restores = c->i.stack == MZ_STACK_POP && (c->i.written & MZ_SURVIVING);
    if (at < f->lowest) f->lowest = at;
    for (unsigned a = 0; a < 2; a++)
        if (c->lent[a] < f->lowest) f->lowest = c->lent[a];
    if (restores && c->framed && c->sp < f->lowest) f->lowest = c->sp; /* of the caller, put away */
}

static void look_at_uses(struct mz_function *f)
{
    bool made = false;
    f->escapes = false;
    f->lowest = 0;
    for (uint32_t n = 0; n < f->count; n++) {
        struct mz_code *c = &f->code[n];
        bool names = c->i.known && (c->i.names || c->i.indexed) && (c->i.address & POINTERS);
        made |= names;
        if (!c->i.known) continue;
        if (c->reached ? lets_escape(c) : names) f->escapes = true;
        if (c->reached) note_lowest(f, c);
    }
    if (made && fn.anywhere) f->escapes = true; /* to where has not been followed */
}

bool mz_function_read(struct mz_function *f, uint64_t start, uint64_t end)
{
    if (end - start > MOST_BYTES) return false;
    f->code = fn.code;
    fn.start = (const uint8_t *)start;
    fn.end = (const uint8_t *)end;
    if (!decode_all(f) || !find_targets(f) || !go_forwards(f)) return false;
    look_at_uses(f);
    return true;
}
