/* From addresses of the target to names in its source, by DWARF (libdw). Used after the target has ended.
 *
 * Modules have the addresses that the target wrote into channel.modules; the process itself is not needed. Without
 * debug information the symbols of the ELF file are used, without those plain addresses. */
#ifndef MZ_REPORT_SYMBOLIZE_SYMBOLIZE_H
#define MZ_REPORT_SYMBOLIZE_SYMBOLIZE_H

#include <elfutils/libdwfl.h>
#include "report/report.h"
#include "base/strbuf.h"

struct mz_symbols;

/* program: path of the executable, for a module without a name. */
struct mz_symbols *mz_symbols_open(const struct mz_channel *channel, const char *program);
void mz_symbols_close(struct mz_symbols *s);

/* The functions at a return address, inlined ones first; at least one frame. Valid until close. */
const struct mz_stack *mz_symbols_at(struct mz_symbols *s, uint64_t pc);
/* The name of the function that starts at an address; a new string, or NULL. */
char *mz_symbols_function(struct mz_symbols *s, uint64_t address);
/* A call stack without our own frames and without what is below the thread's first function. */
void mz_symbols_stack(struct mz_symbols *s, const struct mz_place *place, struct mz_stack *out);
/* The innermost frame with a source line of the user; otherwise with any source line; otherwise the innermost frame.
 * NULL if there is none. */
const struct mz_frame *mz_stack_source(const struct mz_stack *stack);
/* The outermost frame in a source of the user's, or NULL. */
const struct mz_frame *mz_stack_user(const struct mz_stack *stack);

/* Choose the moment for names of objects: `moment` counts records, and the frame is that of the function on whose
 * stack the next object lies (0: look for it in the records). UINT32_MAX: at the end. */
void mz_symbols_at_moment(struct mz_symbols *s, uint32_t moment, uint64_t frame_pc, uint64_t frame_cfa);

struct mz_object { /* what lies at an address */
    char *name;    /* "table[3].head", "heap 0x1234"; never NULL */
    bool typed;    /* type is known, and the access covers all of it */
    Dwarf_Die type;
};

/* size 0: a mutex or the like, the object that begins there. Release name. */
void mz_symbols_object(struct mz_symbols *s, uint64_t address, uint32_t size, struct mz_object *out);
/* A value of that object, as C would write it; a new string. */
char *mz_symbols_value(struct mz_symbols *s, const struct mz_object *object, uint64_t value, uint32_t size);

#endif
