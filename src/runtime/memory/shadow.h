/* The shadow of program memory: which thread wrote each byte last, which threads have read it since. Private to
 * shadow*.c; the rest of the runtime calls memory.h and races.h.
 *
 *   shadow_cells.c   the cells: where they lie, how they split and merge
 *   shadow_check.c   an access: the check for data races, and the update of the cell
 *   shadow_pages.c   accesses to whole pages, memory that ends
 *   shadow_hooks.c   the hooks of the compilers for plain accesses
 *
 * Every 4 bytes (a granule) of program memory that were ever accessed have a cell. The cell says which thread
 * wrote last and which threads have read since, each with its epoch (race_order.c). A cell carries the number
 * of the execution that it describes. Cells of other executions count as empty, so nothing is cleared. The
 * shadow is exact: a cell whose bytes were accessed differently is split into cells of one byte; a cell with
 * several readers has a vector of their epochs. A read is forgotten only when a later write, ordered after
 * the read, covers its bytes. So a data race is noticed at the first access that races with an earlier one.
 *
 * Cells do not contain atomic accesses. These are events of the path, and past_atomic finds them there.
 *
 * Invariants
 *  H1  Only mz_happens_before (race_order.h) decides whether an earlier access is ordered before the running
 *      thread. Only past_plain and past_atomic (shadow_check.c) iterate over the earlier accesses to some
 *      bytes. A memory model that orders accesses in another way changes those.
 *  H2  Only the slow path checks whether there is an object at all (bounds.c). A cell of freed memory has a
 *      form of its own, so accesses to it never take the fast path.
 *  H3  No race is reported during replay: it was reported when the step was new. Cells are updated all the
 *      same.
 *
 * Whole pages: a page of memory has 32 KiB of cells. memset and memcpy of much memory would write eight times
 * as much to cells as to memory. So a page that is accessed as a whole has a single cell, in struct
 * mz_summary, until a thread accesses a part of the page.
 *  W1  While summary.all.execution is rt.execution, that cell stands for all 1024 cells of the page, which
 *      may contain anything (except in the fields that are kept). No page with such a summary is in
 *      mz_shadow.cache: the fast path always finds cells.
 *  W2  A summary begins only if no cell of the page was used in this execution (summary.used), and only where no
 *      atomic object lies. It has no vector of readers.
 *  W3  mz_summary_spread ends a summary: it copies the summary to all cells. It first saves the cells, the
 *      summary and the cache entry (mz_keep), so going back restores W1.
 *  W4  The stateful algorithms and --data-races=allow use no summaries: they need single granules. */
#ifndef MZ_RUNTIME_MEMORY_SHADOW_H
#define MZ_RUNTIME_MEMORY_SHADOW_H

#include "runtime/core/runtime.h"
#include "runtime/memory/races.h"
#include "runtime/memory/room.h"

#define MZ_GRANULE      4u
#define MZ_SHADOW_PAGE  4096u
#define MZ_SHADOW_CELLS (MZ_SHADOW_PAGE / MZ_GRANULE) /* of a page */
#define MZ_NOBODY_YET   255u

enum mz_cell_form { MZ_CELL_SIMPLE, MZ_CELL_SPLIT, MZ_CELL_FREED };

struct mz_shadow_cell {
    uint32_t execution;
    uint32_t write_epoch, read_epoch;
    uint32_t more;          /* SPLIT: first of four cells; else: vector of readers, or 0 */
    uint8_t mask;           /* the bytes of the granule that the cell describes */
    uint8_t writer, reader; /* slot, or MZ_NOBODY_YET */
    uint8_t form;           /* enum mz_cell_form */
    uint8_t atomic;         /* kept: some atomic object lies here */
    uint8_t sound;          /* kept: all its bytes are part of some object, for ever */
    uint8_t counted;        /* enum mz_place_level: how the history has its accesses */
    uint8_t unused;
    uint32_t write_pc, read_pc; /* low halves of the pc of the first access in its epoch */
};

struct mz_summary { /* of a page */
    struct mz_shadow_cell all;
    uint32_t used;   /* the last execution in which a single cell was used */
    uint32_t atomic; /* kept: some atomic object lies here */
};

#define mz_shadow mz_memory_room.shadow

/* An access that is being made. */
struct mz_access_now {
    uint64_t address;
    unsigned size;
    bool write, atomic;
    uint8_t op;
    uint64_t pc;
};

/* ---- shadow_cells.c ---- */
/* Returns the entry of the page in the table, or the free entry where it belongs. */
struct mz_shadow_page *mz_shadow_entry(uint64_t page);
struct mz_shadow_page *mz_shadow_known(uint64_t page);
struct mz_shadow_cell *mz_shadow_find(uint64_t page);
/* From now on each granule of the page has its own cell again. */
void mz_summary_spread(const struct mz_shadow_page *p, struct mz_summary *s);
void mz_cell_clear(struct mz_shadow_cell *c, uint8_t mask);
/* Split a cell into four of one byte each. */
void mz_cell_split(struct mz_shadow_cell *c);
/* The running thread reads the bytes of the cell. */
void mz_cell_add_reader(struct mz_shadow_cell *c, uint32_t epoch, uint64_t pc);
/* Tries to extend a simple cell by an access to other bytes. Returns false if the cell cannot describe all
 * its bytes alike then. */
bool mz_cell_widen(struct mz_shadow_cell *c, const struct mz_access_now *a, uint8_t mask);
/* Stores the access in the cell: the first access in this execution to the bytes that the cell describes. */
void mz_cell_first(struct mz_shadow_cell *c, const struct mz_access_now *a);

/* Returns the summary of the page of a cell; the cell must be in `cells`, not in `split`. */
static inline struct mz_summary *mz_summary_of(const struct mz_shadow_cell *c)
{
    return &mz_shadow.summaries[(size_t)(c - mz_shadow.cells) / MZ_SHADOW_CELLS];
}

static inline bool mz_summary_is_whole(const struct mz_summary *s)
{
    return s->all.execution == rt.execution;
}

static inline struct mz_shadow_cell *mz_shadow_cell_of(uint64_t address)
{
    uint64_t page = address / MZ_SHADOW_PAGE;
    const struct mz_shadow_page *cached = &mz_shadow.cache[page % MZ_SHADOW_CACHE];
    struct mz_shadow_cell *cells = mz_likely(cached->page == page) ? cached->cells : mz_shadow_find(page);
    return &cells[address % MZ_SHADOW_PAGE / MZ_GRANULE];
}

/* ---- shadow_check.c ---- */
/* An access to exactly the bytes that a simple cell describes. */
void mz_shadow_access_cell(struct mz_shadow_cell *c, const struct mz_access_now *a, bool live);
/* An access within one granule, whose cell is c; mask: its bytes. The slow path. */
void mz_shadow_access(const struct mz_access_now *a, struct mz_shadow_cell *c, uint8_t mask);
/* Removes all accesses to the granule from the history of states: they do not matter any more. */
void mz_shadow_forget_past(struct mz_shadow_cell *c, uint64_t address);

/* ---- shadow_pages.c ---- */
/* An access to a whole page. Returns false if the caller must access the granules one by one. */
bool mz_shadow_access_page(uint64_t address, bool write, uint64_t pc);

/* Is it the stack of the running thread? undo.c saves the stack, and the stack always exists. */
static inline bool mz_is_own_stack(const void *p)
{
    const struct mz_slot *s = &rt.slots[rt.self];
    return (const char *)p >= s->stack_low && (const char *)p < s->stack_high;
}

#endif
