/* Cells: the memory that atomic operations and futexes work on. Code that performs such an operation reads
 * and writes program memory only through these functions. docs/adding/memory-model.md explains how a memory
 * model uses them.
 *
 * Laws
 *  C1  Code that performs a visible operation on memory reads the cell with mz_cell_readN and writes it with
 *      mz_cell_writeN, between mz_visible and the commit. tools/cells.py finds any other access in the files
 *      that perform operations.
 *  C2  mz_cell_readN returns the value that the engine supplies for this step: that of the event rt.source,
 *      or the newest value. Without a memory model it is always the newest value. An operation reads its cell
 *      once: the read clears rt.source.
 *  C3  Memory always holds the newest value. mz_cell_writeN stores a value and keeps the old one for going back.
 *  C4  mz_cell_newest reads a cell without performing an operation on it: to foresee the outcome of a pending
 *      operation, and if an instruction of the program accesses the cell itself (pending.direct). No memory
 *      model can give such an instruction an older value.
 *  C5  Outside of an execution (constructors) there is no step and no source: mz_cell_readN returns the
 *      newest value.
 *
 * Values of 16 bytes do not fit into an event: a read of 16 bytes always returns the newest value. */
#ifndef MZ_RUNTIME_MEMORY_CELL_H
#define MZ_RUNTIME_MEMORY_CELL_H

#include "runtime/core/runtime.h"
#include "runtime/rewind/rewind.h"

/* Returns the value that the engine supplies for this step, whose source is not the newest value. */
static __attribute__((noinline, unused)) uint64_t mz_cell_served(void)
{
    rt.source = MZ_SOURCE_NEWEST;
    return rt.path->served[rt.path->depth];
}

__extension__ typedef unsigned __int128 mz_uint128;

#define MZ_CELL(n, type, served)                                                                             \
    static inline type mz_cell_read##n(const volatile type *cell)                                            \
    {                                                                                                        \
        if (mz_likely(rt.source == MZ_SOURCE_NEWEST)) return *cell;                                          \
        return (type)(served);                                                                               \
    }                                                                                                        \
    static inline void mz_cell_write##n(volatile type *cell, type value)                                     \
    {                                                                                                        \
        mz_keep_program(cell, sizeof value);                                                                 \
        *cell = value;                                                                                       \
    }

MZ_CELL(8, uint8_t, mz_cell_served())
MZ_CELL(16, uint16_t, mz_cell_served())
MZ_CELL(32, uint32_t, mz_cell_served())
MZ_CELL(64, uint64_t, mz_cell_served())
MZ_CELL(128, mz_uint128, *cell)
#undef MZ_CELL

/* Returns the newest value of a cell of up to 16 bytes; of a larger cell, the first 16 bytes. */
static inline mz_uint128 mz_cell_newest(const volatile void *cell, size_t size)
{
    mz_uint128 value = 0;
    switch (size) {
    case 1:
        return *(const volatile uint8_t *)cell;
    case 2:
        return *(const volatile uint16_t *)cell;
    case 4:
        return *(const volatile uint32_t *)cell;
    case 8:
        return *(const volatile uint64_t *)cell;
    default:
        mz_raw_memcpy(&value, (const void *)(uintptr_t)cell, size < sizeof value ? size : sizeof value);
        return value;
    }
}

#endif
