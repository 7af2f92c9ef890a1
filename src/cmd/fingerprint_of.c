/* The fingerprint of a search: see fingerprint_of.h. */
#define _GNU_SOURCE
#include "cmd/fingerprint_of.h"

#include <inttypes.h>
#include <stdlib.h>
#include "base/memory.h"
#include "base/shell_words.h"

static const char *yes(bool is) { return is ? "yes" : "no"; }

/* One word for each option, always in this order. */
static char *options_line(const struct mz_settings *s)
{
    char *range = s->nondet_given ? mz_format("%" PRId64 "..%" PRId64, s->nondet_low, s->nondet_high) : NULL;
    char *seed = s->seed_given ? mz_format("%" PRIu64, s->seed) : mz_memory_string("drawn");
    char *bound = mz_format("%u", s->bound_limit);
    char *line = mz_format(
        "--algorithm=%s --strategy=%s --seed=%s --preemptions=%s --delays=%s --persistent=%s --marks=%s "
        "--no-sleep-sets=%s --update=%s "
        "--order=%s --order-seed=%" PRIu64 " "
        "--data-races=%s --heap=%s --leaks=%s "
        "--keep-going=%s --spurious-wakeups=%s --nondet-range=%s --max-steps=%" PRIu64,
        s->algorithm_name, s->strategy_name ? s->strategy_name : "exhaustive", seed,
        s->bound == MZ_BOUND_PREEMPTIONS ? bound : "any", s->bound == MZ_BOUND_DELAYS ? bound : "any",
        s->persistent ? "static" : "none", yes(s->marks), yes(!s->sleep_sets), s->eager ? "all" : "last",
        s->order_given ? s->order_given : "default", s->order_seed, s->allow_races ? "allow" : "error",
        s->heap_reuse ? "reuse" : "fresh", yes(s->leaks), yes(s->keep_going), yes(s->spurious_wakeups),
        range ? range : "none", s->max_steps);
    free(range);
    free(seed);
    free(bound);
    return line;
}

/* Quoted, on one line: different words make different lines. */
static char *words_line(const struct mz_list *words)
{
    struct mz_strbuf quoted = {0}, line = {0};
    for (size_t i = 0; i < words->count; i++) {
        if (i) mz_strbuf_addc(&quoted, ' ');
        mz_words_quote(&quoted, words->items[i]);
    }
    for (const char *p = mz_strbuf_text(&quoted); *p; p++) {
        if (*p == '\n' || *p == '\\') mz_strbuf_addc(&line, '\\');
        mz_strbuf_addc(&line, *p == '\n' ? 'n' : *p);
    }
    mz_strbuf_release(&quoted);
    return mz_strbuf_take(&line);
}

void mz_fingerprint_make(struct mz_fingerprint *o, const struct mz_settings *s, const struct mz_recipe *r)
{
    struct mz_list binary = {0};
    if (r->binary) mz_list_add(&binary, r->binary);
    o->options = options_line(s);
    o->arguments = words_line(&r->arguments);
    o->build = words_line(r->binary ? &binary : &r->build);
    o->identity = mz_memory_string(r->identity);
    mz_list_release(&binary);
}
