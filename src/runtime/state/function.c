/* Reads a function of the program: its instructions, the stack pointer before each of them, and whether the function keeps
 * its frame private.
 *
 * The frame is private if the function accesses it only by loads and stores with rbp plus a constant. That
 * means: The function makes no pointer to the frame, except for the hooks of plain accesses, which forget the
 * pointer before they return (clang at -O0 calls hooks for all local variables). It addresses nothing through
 * rsp. It pushes only registers, in the prologue, so it passes no arguments on the stack. Otherwise the frame
 * escapes: any code may read all of it. An analysis that follows pointers would find more private frames. But
 * a pointer can be copied in many ways, and an analysis that misses one misses errors. */
#include "runtime/state/function.h"
#include "runtime/state/room.h"
#include "base/region.h"

#define MOST       4096u /* instructions */
#define MOST_BYTES (8 * MOST)

#define BIT(r)   (1u << (r))
#define POINTERS (BIT(MZ_RSP) | BIT(MZ_RBP))

#define fn mz_state_room.function

void mz_function_init(void)
{
    fn.code = mz_region_reserve(MOST * sizeof *fn.code);
    fn.index = mz_region_reserve(MOST_BYTES * sizeof *fn.index);
    fn.todo = mz_region_reserve(MOST * sizeof *fn.todo);
    MZ_ASSERT(fn.code && fn.index && fn.todo);
}

/* ---- instructions ---- */

/* Does the instruction use rsp or rbp in another way than by the changes of the stack that decode.c knows? */
static bool touches_pointers(const struct mz_instruction *i)
{
    bool own = (i->stack == MZ_STACK_PUSH && i->read == BIT(MZ_RBP)) ||
               (i->stack == MZ_STACK_POP && i->written == BIT(MZ_RBP));
    return !own && (i->read | i->written) & POINTERS;
}

static bool decode_all(struct mz_function *f)
{
    f->count = 0;
    mz_raw_memset(fn.index, 0, (size_t)(fn.end - fn.start) * sizeof *fn.index);
    for (const uint8_t *p = fn.start; p < fn.end;) {
        if (f->count == MOST) return false;
        struct mz_code *c = &f->code[f->count++];
        *c = (struct mz_code){.i = mz_decode(p), .target = MZ_NOWHERE};
        if (!c->i.known && !c->i.anywhere) return false;
        if (c->i.next > fn.end || touches_pointers(&c->i)) return false;
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

/* ---- forwards: the stack pointer ---- */

struct before { /* an instruction */
    int32_t sp;
    bool framed;
};

/* Returns false if two paths to the instruction disagree about the stack pointer. */
static bool arrive(struct mz_code *c, const struct before *b, uint32_t n, uint32_t *count)
{
    if (c->reached) return c->sp == b->sp && c->framed == b->framed;
    c->reached = true;
    c->sp = b->sp;
    c->framed = b->framed;
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
    return c->i.base == MZ_RBP && c->framed && !c->i.indexed ? c->i.offset : MZ_NO_PLACE;
}

static bool go_forwards(struct mz_function *f)
{
    struct before b = {0, false};
    uint32_t count = 0;
    arrive(&f->code[0], &b, 0, &count);
    while (count) {
        const uint32_t n = fn.todo[--count];
        const struct mz_code *c = &f->code[n];
        if (!c->i.known) continue;
        b = (struct before){c->sp, c->framed};
        if (!change_stack(c, &b)) return false;
        if (c->target == MZ_OUTSIDE && b.framed) return false; /* the function continues elsewhere */
        if (c->target < MZ_OUTSIDE && !arrive(&f->code[c->target], &b, c->target, &count)) return false;
        if (!c->i.ends && n + 1 < f->count && !arrive(&f->code[n + 1], &b, n + 1, &count)) return false;
    }
    return true;
}

/* ---- is the frame private? ---- */

static bool does_nothing(const struct mz_instruction *i)
{
    return !(i->read | i->written | i->loads | i->stores) && !i->calls && !i->ends && !i->target;
}

/* The prologue saves registers of the caller and makes the frame. At the entry rax has no value: clang pushes rax to align the
 * stack. */
static bool is_prologue(const struct mz_instruction *i)
{
    if (!i->known) return false;
    switch (i->stack) {
    case MZ_STACK_PUSH:
        return i->copies && !i->loads && i->read && !(i->read & ~(MZ_SURVIVING | BIT(MZ_RBP) | BIT(MZ_RAX)));
    case MZ_STACK_FRAME:
    case MZ_STACK_MOVE:
        return true;
    default:
        return i->stack == MZ_STACK_SAME && does_nothing(i);
    }
}

extern const char __start_mz_access_text[], __stop_mz_access_text[]; /* memory/shadow_hooks.c */

/* Is the instruction a direct call of a hook for plain accesses? The program reaches it through a slot that the dynamic
 * linker filled when the program started: jmp *slot(%rip). */
static bool calls_hook(const struct mz_instruction *i)
{
    const uint8_t *p = i->callee;
    int32_t offset;
    uint64_t function;
    if (!i->known || !p || !mz_is_instrumented((uintptr_t)p)) return false;
    if (p[0] == 0xf3 && p[1] == 0x0f && p[2] == 0x1e && p[3] == 0xfa) p += 4; /* endbr64 */
    if (p[0] == 0xf2) p++;                                                    /* bnd */
    if (p[0] != 0xff || p[1] != 0x25) return false;
    mz_raw_memcpy(&offset, p + 2, sizeof offset);
    p += 6 + offset;
    if (!mz_is_instrumented((uintptr_t)p)) return false;
    mz_raw_memcpy(&function, p, sizeof function);
    return function >= (uintptr_t)__start_mz_access_text && function < (uintptr_t)__stop_mz_access_text;
}

static bool moves_to_rdi(const struct mz_instruction *i, uint32_t from)
{
    return i->known && i->copies && i->read == from && i->written == BIT(MZ_RDI) && !i->loads && !i->stores;
}

/* Does instruction n make a pointer to the frame that only a hook gets?
 *      lea -8(%rbp), %rdi; call hook          or          lea -8(%rbp), %rax; mov %rax, %rdi; call hook */
static bool is_for_hook(const struct mz_function *f, uint32_t n)
{
    const struct mz_instruction *i = &f->code[n].i;
    if (i->base != MZ_RBP || i->indexed || !i->written || i->written & (MZ_SURVIVING | POINTERS))
        return false;
    if (i->written != BIT(MZ_RDI) && ++n < f->count && !moves_to_rdi(&f->code[n].i, i->written)) return false;
    return ++n < f->count && calls_hook(&f->code[n].i);
}

/* Does instruction n make a pointer to the frame, or pass an argument on the stack? */
static bool lets_escape(const struct mz_function *f, uint32_t n)
{
    const struct mz_instruction *i = &f->code[n].i;
    if (!i->known) return true;
    if (i->names && is_for_hook(f, n)) return false;
    if (i->address & POINTERS && (i->names || i->indexed || i->base == MZ_NO_BASE)) return true;
    if (i->address & BIT(MZ_RSP)) return true;
    return i->stack == MZ_STACK_PUSH;
}

static void note_lowest(struct mz_function *f, const struct mz_code *c)
{
    int32_t at = mz_code_place(c);
    bool restores = c->i.stack == MZ_STACK_POP && (c->i.written & MZ_SURVIVING);
    if (at < f->lowest) f->lowest = at;
    if (restores && c->framed && c->sp < f->lowest) f->lowest = c->sp; /* restores a register of the caller */
}

static void look_at_uses(struct mz_function *f)
{
    bool prologue = true;
    f->escapes = false;
    f->lowest = 0;
    for (uint32_t n = 0; n < f->count; n++) {
        const struct mz_code *c = &f->code[n];
        prologue = prologue && is_prologue(&c->i);
        if (!prologue && lets_escape(f, n)) f->escapes = true;
        if (c->i.known && c->reached) note_lowest(f, c);
    }
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
