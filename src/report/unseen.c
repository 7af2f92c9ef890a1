/* Memory that changed without a hook, in words: see collect.h. */
#include "report/collect.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

#define NAMED 4u

static void add_place(struct mz_strbuf *out, struct mz_symbols *s, uint64_t pc)
{
    struct mz_place place = {{pc, 0}};
    struct mz_stack stack = {0};
    if (!pc) return;
    mz_symbols_stack(s, &place, &stack);
    const struct mz_frame *frame = mz_stack_source(&stack);
    if (frame && frame->file) mz_strbuf_addf(out, " before %s:%u", frame->file, frame->line);
    if (frame && frame->file && frame->function) mz_strbuf_addf(out, " (%s)", frame->function);
    mz_stack_release(&stack);
}

/* The first write: which thread, and where it was stopped next. */
static void add_first(struct mz_strbuf *out, struct mz_symbols *s, const struct mz_channel *c)
{
    const struct mz_unseen_write *w = &c->unseen_writes[0];
    if (w->thread >= MZ_MAX_THREADS) return;
    mz_strbuf_addf(out, " by thread %s", c->threads[w->thread].name);
    add_place(out, s, w->pc);
}

/* The object in a word of memory: it may begin after the first byte. */
static void name_word(struct mz_symbols *s, uint64_t address, struct mz_object *object)
{
    mz_symbols_object(s, address, 0, object);
    for (unsigned i = 1; i < 8 && !strncmp(object->name, "0x", 2); i++) {
        free(object->name);
        mz_symbols_object(s, address + i, 0, object);
    }
}

static void add_names(struct mz_strbuf *out, struct mz_symbols *s, const struct mz_channel *c, uint32_t count)
{
    uint32_t named = count > NAMED ? NAMED : count;
    for (uint32_t i = 0; i < named; i++) {
        struct mz_object object;
        name_word(s, c->unseen_writes[i].address, &object);
        mz_strbuf_addf(out, "%s%s", i == 0 ? "" : i + 1 == count ? " and " : ", ", object.name);
        free(object.name);
    }
    if (count > named) mz_strbuf_addf(out, " and %u more", count - named);
    mz_strbuf_add(out, count == 1 ? " is" : " are");
}

void mz_collect_unseen(const struct mz_outcome *outcome, struct mz_list *out)
{
    const struct mz_channel *c = outcome->channel;
    uint32_t count =
        c->unseen_write_count < MZ_MAX_UNSEEN_WRITES ? c->unseen_write_count : MZ_MAX_UNSEEN_WRITES;
    struct mz_strbuf b = {0};
    if (!count) return;
    struct mz_symbols *s = mz_symbols_open(c, outcome->program);
    add_names(&b, s, c, count);
    mz_strbuf_add(&b, " written without a hook");
    add_first(&b, s, c);
    mz_strbuf_add(
        &b, ", so data races there are not seen (inline assembly, a system call, or code that was compiled "
            "without mazurka cc or with no_sanitize_thread)");
    mz_symbols_close(s);
    char *text = mz_strbuf_take(&b);
    if (!mz_list_has(out, text)) mz_list_add(out, text);
    free(text);
}
