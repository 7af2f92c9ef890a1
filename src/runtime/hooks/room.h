/* The private data of the hooks: one structure, mz_hooks_room. core/room.h explains the words kept, cleared
 * and rolled back. Private to src/runtime/hooks. */
#ifndef MZ_RUNTIME_HOOKS_ROOM_H
#define MZ_RUNTIME_HOOKS_ROOM_H

#include "runtime/core/runtime.h"
#include "runtime/hooks/libc.h"

#define MZ_IMPORT_STUBS 1024u
#define MZ_REACHED      2048u

struct mz_import_stub {
    const void *function; /* must be first: mz_import_enter jumps to it */
    const char *name;
    struct mz_libc_known known;
    bool unknown; /* libc.def does not say what the function changes */
    bool called;
};

struct mz_hooks_room {
    struct { /* imports.c, kept */
        struct mz_import_stub stubs[MZ_IMPORT_STUBS];
        uint32_t count;
        uint8_t *code; /* STUB_SIZE bytes for each stub */
    } imports;
    struct {                      /* plugin.c: used between the two hooks of an instruction */
        unsigned __int128 before; /* the operand before the instruction */
    } plugin;
    struct { /* assertions.c, kept: the places that have been reached; at most half full */
        struct mz_reached {
            const char *file; /* NULL: free */
            unsigned line;
        } reached[MZ_REACHED];
        uint32_t count;
    } assertions;
    struct { /* verifier.c, kept: */
        bool range_noted;
    } verifier;
};

extern struct mz_hooks_room mz_hooks_room;

#endif
