/* Accesses to whole pages, the end of memory, and memory that is allocated again. See shadow.h. */
#include "runtime/memory/memory.h"
#include "runtime/memory/shadow.h"
#include "runtime/rewind/rewind.h"

static bool ends_life(uint8_t op) { return mz_ops[op].traits & MZ_TRAIT_ENDS; }

/* Begins a summary: this is the first access to the page in this execution. */
static void begin_summary(struct mz_shadow_page *p, struct mz_summary *s, const struct mz_access_now *a)
{
    struct mz_shadow_page *cached = &mz_shadow.cache[p->page % MZ_SHADOW_CACHE];
    mz_cell_clear(&s->all, 0xf);
    mz_cell_first(&s->all, a);
    if (cached->page == p->page) cached->page = ~0ull;
}

bool mz_shadow_access_page(uint64_t address, bool write, uint64_t pc)
{
    if (rt.stateful || rt.allow_races) return false;
    struct mz_shadow_page *p = mz_shadow_known(address / MZ_SHADOW_PAGE);
    struct mz_summary *s = mz_summary_of(p->cells);
    struct mz_access_now a = {address, MZ_GRANULE, write, false, write ? MZ_OP_WRITE : MZ_OP_READ, pc};
    if (s->atomic || !mz_memory_is_whole_page(address)) return false;
    if (!mz_summary_is_whole(s)) {
        if (s->used == rt.execution) return false;
        begin_summary(p, s, &a);
        return true;
    }
    if (s->all.form == MZ_CELL_FREED) return false;
    if (!write && s->all.reader != MZ_NOBODY_YET && s->all.reader != rt.self) return false; /* W2 */
    mz_shadow_access_cell(&s->all, &a, rt.path->live);
    return true;
}

/* A whole page of a block is freed. Returns false if the caller must free the granules one by one. */
static bool free_page(uint64_t address, uint8_t op, uint64_t pc)
{
    struct mz_shadow_page *p = mz_shadow_entry(address / MZ_SHADOW_PAGE);
    if (!p->cells || rt.stateful || rt.allow_races) return false;
    struct mz_summary *s = mz_summary_of(p->cells);
    struct mz_access_now a = {address, MZ_GRANULE, true, false, op, pc};
    if (s->atomic || !mz_summary_is_whole(s) || s->all.form == MZ_CELL_FREED) return false;
    mz_shadow_access_cell(&s->all, &a, rt.path->live);
    if (!ends_life(op)) return true;
    mz_keep(&s->all, sizeof s->all);
    s->all.form = MZ_CELL_FREED;
    s->all.more = 0;
    return true;
}

/* Returns the cell of a granule, if it may have been accessed in this execution. Otherwise returns NULL, and
 * sets *at to the last granule of the page if no part of the page was accessed. */
static struct mz_shadow_cell *used_cell(uint64_t *at)
{
    uint64_t page = *at / MZ_SHADOW_PAGE;
    const struct mz_shadow_page *p = mz_shadow_entry(page);
    struct mz_summary *s = p->cells ? mz_summary_of(p->cells) : NULL;
    if (!s || (s->used != rt.execution && !s->atomic && !mz_summary_is_whole(s))) {
        *at = (page + 1) * MZ_SHADOW_PAGE - MZ_GRANULE;
        return NULL;
    }
    if (mz_summary_is_whole(s)) mz_summary_spread(p, s);
    struct mz_shadow_cell *c = &p->cells[*at % MZ_SHADOW_PAGE / MZ_GRANULE];
    return c->execution == rt.execution || c->atomic ? c : NULL;
}

/* A block is freed, or a thread ends: like a write to all granules that were accessed. */
void mz_shadow_freed(uint64_t address, size_t size, uint8_t op, uint64_t pc)
{
    if (mz_unlikely(rt.allow_races))
        mz_visible_access((void *)(uintptr_t)address, size, true, false, (void *)(uintptr_t)pc, NULL);
    for (uint64_t at = address; at < address + size; at += MZ_GRANULE) {
        if (at % MZ_SHADOW_PAGE == 0 && address + size - at >= MZ_SHADOW_PAGE && free_page(at, op, pc)) {
            at += MZ_SHADOW_PAGE - MZ_GRANULE;
            continue;
        }
        struct mz_shadow_cell *c = used_cell(&at);
        if (!c || (mz_unlikely(rt.allow_races) && mz_visible_any((void *)(uintptr_t)at, 1))) continue;
        unsigned part = address + size - at < MZ_GRANULE ? (unsigned)(address + size - at) : MZ_GRANULE;
        struct mz_access_now a = {at, part, true, false, op, pc};
        mz_shadow_access(&a, c, (uint8_t)((1u << part) - 1));
        if (!ends_life(op)) continue; /* unmapped: other memory may be mapped here later */
        if (mz_unlikely(rt.stateful)) mz_shadow_forget_past(c, at);
        mz_keep(c, sizeof *c);
        c->form = MZ_CELL_FREED;
        c->more = 0;
    }
}

/* Freed memory is allocated again (--heap=reuse): forget the earlier accesses. */
void mz_shadow_forget(uint64_t address, size_t size)
{
    for (uint64_t at = address; at < address + size; at += MZ_GRANULE) {
        struct mz_shadow_cell *c = used_cell(&at);
        if (!c) continue;
        if (mz_unlikely(rt.stateful)) mz_shadow_forget_past(c, at);
        mz_keep(c, sizeof *c);
        c->execution = 0;
    }
}
