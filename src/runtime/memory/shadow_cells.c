/* The cells of the shadow: where they lie, and how they split and merge. See shadow.h. */
#include "base/region.h"
#include "runtime/memory/memory.h"
#include "runtime/memory/shadow.h"
#include "runtime/rewind/rewind.h"

#define TABLE (1u << 20) /* pages */
#define POOL  (1u << 22) /* split cells and reader vectors of one execution */

void mz_shadow_init(void)
{
    mz_shadow.table = mz_region_reserve(TABLE * sizeof *mz_shadow.table);
    mz_shadow.cells = mz_region_reserve((size_t)TABLE * MZ_SHADOW_CELLS * sizeof *mz_shadow.cells);
    mz_shadow.split = mz_region_reserve((size_t)POOL * sizeof *mz_shadow.split);
    mz_shadow.readers = mz_region_reserve((size_t)POOL * sizeof *mz_shadow.readers);
    mz_shadow.reader_pcs = mz_region_reserve((size_t)POOL * sizeof *mz_shadow.reader_pcs);
    mz_shadow.summaries = mz_region_reserve(TABLE * sizeof *mz_shadow.summaries);
    MZ_ASSERT(mz_shadow.table && mz_shadow.cells && mz_shadow.split && mz_shadow.readers &&
              mz_shadow.reader_pcs && mz_shadow.summaries);
    for (uint32_t i = 0; i < MZ_SHADOW_CACHE; i++) mz_shadow.cache[i].page = ~0ull;
    mz_shadow_reset();
}

void mz_shadow_reset(void)
{
    mz_shadow.split_count = 0;
    mz_shadow.reader_count = 1;
}

/* Returns the entry of the page in the table, or the free entry where it belongs. This does not use
 * base/table.h because page 0 is a valid page; `cells` marks the used entries. */
struct mz_shadow_page *mz_shadow_entry(uint64_t page)
{
    uint64_t i = (page * 0x9e3779b97f4a7c15ull) >> 44;
    while (mz_shadow.table[i].cells && mz_shadow.table[i].page != page) i = (i + 1) & (TABLE - 1);
    return &mz_shadow.table[i];
}

struct mz_shadow_page *mz_shadow_known(uint64_t page)
{
    struct mz_shadow_page *p = mz_shadow_entry(page);
    if (p->cells) return p;
    MZ_ASSERT(mz_shadow.pages < TABLE / 2);
    p->page = page;
    p->cells = mz_shadow.cells + (size_t)mz_shadow.pages++ * MZ_SHADOW_CELLS;
    return p;
}

void mz_summary_spread(const struct mz_shadow_page *p, struct mz_summary *s)
{
    const struct mz_shadow_cell all = s->all;
    mz_keep(p->cells, MZ_SHADOW_CELLS * sizeof *p->cells);
    mz_keep(s, sizeof *s);
    mz_keep(&mz_shadow.cache[p->page % MZ_SHADOW_CACHE], sizeof mz_shadow.cache[0]);
    for (uint32_t i = 0; i < MZ_SHADOW_CELLS; i++) {
        struct mz_shadow_cell *c = &p->cells[i], before = *c;
        *c = all;
        c->atomic = before.atomic;
        c->sound = before.sound;
    }
    s->all.execution = 0;
    s->used = rt.execution;
}

struct mz_shadow_cell *mz_shadow_find(uint64_t page)
{
    struct mz_shadow_page *p = mz_shadow_known(page);
    struct mz_summary *s = mz_summary_of(p->cells);
    if (mz_unlikely(mz_summary_is_whole(s))) mz_summary_spread(p, s);
    mz_shadow.cache[page % MZ_SHADOW_CACHE] = *p;
    return p->cells;
}

/* Returns a new vector of readers. Going back in the execution frees vectors for new use. */
static uint32_t new_readers(void)
{
    MZ_ASSERT(mz_shadow.reader_count < POOL);
    mz_keep(&mz_shadow.reader_count, sizeof mz_shadow.reader_count);
    return mz_shadow.reader_count++;
}

void mz_cell_add_reader(struct mz_shadow_cell *c, uint32_t epoch, uint64_t pc)
{
    mz_keep(c, sizeof *c);
    if (c->reader == MZ_NOBODY_YET || (c->reader == rt.self && !c->more)) {
        c->reader = rt.self;
        c->read_epoch = epoch;
        c->read_pc = (uint32_t)pc;
        return;
    }
    if (!c->more) {
        c->more = new_readers();
        for (uint32_t t = 0; t < MZ_SLOTS; t++) mz_shadow.readers[c->more][t] = 0;
        mz_shadow.readers[c->more][c->reader] = c->read_epoch;
        mz_shadow.reader_pcs[c->more][c->reader] = c->read_pc;
    }
    mz_keep(&mz_shadow.readers[c->more][rt.self], sizeof mz_shadow.readers[0][0]);
    mz_keep(&mz_shadow.reader_pcs[c->more][rt.self], sizeof mz_shadow.reader_pcs[0][0]);
    mz_shadow.readers[c->more][rt.self] = epoch;
    mz_shadow.reader_pcs[c->more][rt.self] = (uint32_t)pc;
}

void mz_cell_clear(struct mz_shadow_cell *c, uint8_t mask)
{
    mz_keep(c, sizeof *c);
    c->execution = rt.execution;
    c->more = 0;
    c->mask = mask;
    c->writer = c->reader = MZ_NOBODY_YET;
    c->form = MZ_CELL_SIMPLE;
    c->counted = 0;
}

void mz_cell_split(struct mz_shadow_cell *c)
{
    MZ_ASSERT(mz_shadow.split_count + 4 < POOL);
    uint32_t first = mz_shadow.split_count;
    mz_keep(c, sizeof *c);
    mz_keep(&mz_shadow.split_count, sizeof mz_shadow.split_count);
    mz_shadow.split_count += 4;
    for (uint32_t i = 0; i < 4; i++) {
        struct mz_shadow_cell *s = &mz_shadow.split[first + i];
        mz_cell_clear(s, (uint8_t)(1u << i));
        if (!(c->mask & (1u << i))) continue;
        s->writer = c->writer;
        s->write_epoch = c->write_epoch;
        s->write_pc = c->write_pc;
        s->read_pc = c->read_pc;
        s->reader = c->reader;
        s->read_epoch = c->read_epoch;
        if (!c->more) continue;
        s->more = new_readers();
        mz_raw_memcpy(mz_shadow.readers[s->more], mz_shadow.readers[c->more], sizeof *mz_shadow.readers);
        mz_raw_memcpy(mz_shadow.reader_pcs[s->more], mz_shadow.reader_pcs[c->more],
                      sizeof *mz_shadow.reader_pcs);
    }
    c->form = MZ_CELL_SPLIT;
    c->more = first;
}

bool mz_cell_widen(struct mz_shadow_cell *c, const struct mz_access_now *a, uint8_t mask)
{
    uint32_t epoch = rt.run.threads[rt.self].epoch;
    bool written_now = c->writer == rt.self && c->write_epoch == epoch && c->reader == MZ_NOBODY_YET;
    bool read_now = c->reader == rt.self && c->read_epoch == epoch && !c->more && c->writer == MZ_NOBODY_YET;
    if (a->atomic) return false;
    if ((c->mask & mask) == mask && written_now) return true;
    if (!(a->write ? written_now : read_now)) return false;
    mz_keep(c, sizeof *c);
    c->mask |= mask;
    return true;
}

void mz_cell_first(struct mz_shadow_cell *c, const struct mz_access_now *a)
{
    uint32_t epoch = rt.run.threads[rt.self].epoch;
    if (a->write) {
        c->writer = rt.self;
        c->write_epoch = epoch;
        c->write_pc = (uint32_t)a->pc;
    } else {
        c->reader = rt.self;
        c->read_epoch = epoch;
        c->read_pc = (uint32_t)a->pc;
    }
}
