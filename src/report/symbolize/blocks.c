/* Blocks of the heap: see blocks.h. */
#include "report/symbolize/blocks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "report/symbolize/symbolize_internal.h"

static const struct mz_block_history *histories(const struct mz_channel *c)
{
    return (const void *)((const char *)c + c->blocks_offset);
}

static const struct mz_block_history *history_of(const struct mz_channel *c, const struct mz_finding *f)
{
    return f->block ? &histories(c)[f->block - 1] : NULL;
}

static const char *thread_name(const struct mz_channel *c, uint8_t slot)
{
    return slot < MZ_MAX_THREADS && c->threads[slot].name[0] ? c->threads[slot].name : "?";
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The innermost frame with a source line of a place; valid until the stack is released. */
static const struct mz_frame *source_of(struct mz_symbols *s, const struct mz_place *place,
                                        struct mz_stack *stack)
{
    mz_symbols_stack(s, place, stack);
    const struct mz_frame *frame = mz_stack_source(stack);
    return frame && frame->file ? frame : NULL;
}

/* ---- names ---- */

char *mz_block_name(struct mz_symbols *s, uint64_t address, uint32_t moment)
{
    const struct mz_channel *c = s->channel;
    const struct mz_block_history *all = histories(c), *h = NULL;
    for (uint32_t i = 0; i < c->block_count && all[i].since <= moment; i++)
        if (address >= all[i].start && address - all[i].start < (all[i].size ? all[i].size : 1)) h = &all[i];
    if (!h) return NULL;
    unsigned same = 1;
    for (const struct mz_block_history *b = all; b < h; b++) same += b->allocated.pc[0] == h->allocated.pc[0];
    struct mz_stack stack = {0};
    struct mz_strbuf name = {0};
    const struct mz_frame *frame = source_of(s, &h->allocated, &stack);
    mz_strbuf_add(&name, "block");
    if (frame) mz_strbuf_addf(&name, "@%s:%u", base_name(frame->file), frame->line);
    if (same > 1) mz_strbuf_addf(&name, "#%u", same);
    if (address > h->start) mz_strbuf_addf(&name, "+%" PRIu64, address - h->start);
    mz_stack_release(&stack);
    return mz_strbuf_take(&name);
}

/* ---- words ---- */

static void add_bytes(struct mz_strbuf *out, uint64_t n)
{
    mz_strbuf_addf(out, "%" PRIu64 " byte%s", n, n == 1 ? "" : "s");
}

static void add_position(struct mz_strbuf *out, uint64_t address, uint64_t start, uint64_t size)
{
    if (address < start) {
        add_bytes(out, start - address);
        mz_strbuf_add(out, " before");
    } else if (address >= start + size) {
        if (address > start + size)
            add_bytes(out, address - start - size);
        else
            mz_strbuf_add(out, "right");
        mz_strbuf_add(out, " behind");
    } else if (address > start) {
        add_bytes(out, address - start);
        mz_strbuf_add(out, " into");
    } else {
        mz_strbuf_add(out, "at the start of");
    }
}

static void add_block(struct mz_symbols *s, const struct mz_finding *f, struct mz_strbuf *out)
{
    const struct mz_block_history *h = history_of(s->channel, f);
    mz_strbuf_add(out, "a block of ");
    add_bytes(out, f->object_size);
    if (!h) return;
    struct mz_stack stack = {0};
    const struct mz_frame *frame = source_of(s, &h->allocated, &stack);
    mz_strbuf_addf(out, " allocated by %s", thread_name(s->channel, h->allocated_by));
    if (frame) mz_strbuf_addf(out, " at %s:%u", base_name(frame->file), frame->line);
    if (frame && frame->function) mz_strbuf_addf(out, " (%s)", frame->function);
    mz_stack_release(&stack);
}

static void add_global(struct mz_symbols *s, const struct mz_finding *f, struct mz_strbuf *out)
{
    struct mz_object object;
    mz_symbols_object(s, f->object_start, (uint32_t)f->object_size, &object);
    mz_strbuf_addf(out, "the global variable %s (", object.name);
    add_bytes(out, f->object_size);
    mz_strbuf_addc(out, ')');
    free(object.name);
}

void mz_describe_position(struct mz_symbols *s, const struct mz_finding *f, struct mz_strbuf *out)
{
    add_position(out, f->address, f->object_start, f->object_size);
    mz_strbuf_addc(out, ' ');
    if (f->area == MZ_AREA_HEAP)
        add_block(s, f, out);
    else
        add_global(s, f, out);
}

static const char *access_noun(unsigned op)
{
    const char *noun = mz_op_info(op)->noun;
    if (!noun) return mz_op_name((enum mz_op)op);
    return *noun ? noun : NULL;
}

static void describe_leak(const struct mz_finding *f, struct mz_strbuf *out)
{
    mz_strbuf_addf(out, "leak: ");
    add_bytes(out, f->object_size);
    mz_strbuf_addf(out, " in %d block%s that nothing points to any more", f->code, f->code == 1 ? "" : "s");
}

char *mz_describe_memory(struct mz_symbols *s, const struct mz_finding *f)
{
    struct mz_strbuf b = {0};
    const char *noun = access_noun(f->op);
    char *kind = mz_memory_string(mz_kind_name((enum mz_kind)f->kind));
    for (char *p = kind; *p; p++)
        if (*p == '-') *p = ' ';
    bool named = f->area == MZ_AREA_HEAP || (f->area == MZ_AREA_GLOBAL && f->object_start);
    if (f->kind == MZ_KIND_LEAK) {
        describe_leak(f, &b);
    } else {
        mz_strbuf_addf(&b, "%s: ", kind);
        if (noun && f->size) {
            mz_strbuf_addf(&b, "%s of ", noun);
            add_bytes(&b, f->size);
            mz_strbuf_add(&b, ", ");
        }
        if (!noun || !named) mz_strbuf_addf(&b, "%s%s", f->text, named ? ", " : "");
        if (named) mz_describe_position(s, f, &b);
    }
    free(kind);
    return mz_strbuf_take(&b);
}

/* ---- history ---- */

static void collect_one(struct mz_symbols *s, struct mz_access_report *to, uint8_t thread, uint8_t op,
                        uint64_t size, const struct mz_place *place)
{
    *to = (struct mz_access_report){.thread = thread, .op = op, .size = (uint32_t)size};
    mz_symbols_stack(s, place, &to->stack);
}

static bool same_place(const struct mz_block_history *a, const struct mz_block_history *b)
{
    return a->allocated_by == b->allocated_by && !memcmp(&a->allocated, &b->allocated, sizeof a->allocated);
}

/* Leaked blocks, one entry for each place of allocation. */
static void collect_leaks(struct mz_symbols *s, struct mz_finding_report *finding)
{
    const struct mz_channel *c = s->channel;
    const struct mz_block_history *all = histories(c);
    size_t capacity = 0;
    for (uint32_t i = 0; i < c->block_count; i++) {
        uint32_t first = 0;
        if (!all[i].is_leaked) continue;
        while (!all[first].is_leaked || !same_place(&all[first], &all[i])) first++;
        if (first < i) continue;
        MZ_GROW(finding->leaks, finding->leak_count, capacity);
        struct mz_leak_report *leak = &finding->leaks[finding->leak_count++];
        *leak = (struct mz_leak_report){0};
        for (uint32_t k = i; k < c->block_count; k++)
            if (all[k].is_leaked && same_place(&all[k], &all[i])) leak->blocks++, leak->bytes += all[k].size;
        collect_one(s, &leak->allocated, all[i].allocated_by, MZ_OP_ALLOCATE, all[i].size, &all[i].allocated);
    }
}

void mz_collect_history(struct mz_symbols *s, const struct mz_finding *f, struct mz_finding_report *finding)
{
    const struct mz_block_history *h = history_of(s->channel, f);
    if (f->kind == MZ_KIND_LEAK) {
        collect_leaks(s, finding);
        return;
    }
    if (!h) return;
    collect_one(s, &finding->allocated, h->allocated_by, MZ_OP_ALLOCATE, h->size, &h->allocated);
    if (h->is_freed) collect_one(s, &finding->freed, h->freed_by, MZ_OP_DEALLOCATE, h->size, &h->freed);
}
