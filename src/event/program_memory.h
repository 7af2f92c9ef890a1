/* Where the tested program's code and data lie, so that the command can name an address, and another run of the program
 * can find the same variable again. A part of the channel (event/channel.h). */
#ifndef MZ_EVENT_PROGRAM_MEMORY_H
#define MZ_EVENT_PROGRAM_MEMORY_H

#include <stdint.h>
#include "event/limits.h"

struct mz_module { /* a loaded ELF file: look up pc - bias in path */
    uint64_t bias, start, end;
    uint32_t instrumented; /* calls our hooks */
    uint32_t tls_offset;   /* its thread-local variables begin this far below the thread pointer; 0: none */
    char path[512];
};

struct mz_part { /* of a target's memory: layout.h */
    uint64_t id; /* equal for the same part in another target */
    uint64_t start, size;
    uint32_t module, reserved; /* its number plus one; 0: none */
};
struct mz_layout {
    volatile uint32_t count; /* 0: not known yet */
    uint32_t reserved;
    struct mz_part parts[MZ_MAX_PARTS];
};

enum mz_location_kind {
    MZ_LOCATION_ADDRESS,
    MZ_LOCATION_MODULE,
    MZ_LOCATION_HEAP,
    MZ_LOCATION_STACK,
    MZ_LOCATION_TLS
};
struct mz_location { /* 4 bytes of program memory, in a form that another run of the program understands */
    uint8_t kind;    /* enum mz_location_kind */
    uint8_t index;   /* module, or slot of the thread */
    uint8_t reserved[6];
    /* from the module's bias or the start of the heap; down from the end of the stack or TLS block */
    uint64_t offset;
};

enum mz_area_kind { MZ_AREA_HEAP = 1, MZ_AREA_STACK, MZ_AREA_TLS, MZ_AREA_GLOBAL };

struct mz_area { /* memory outside of all modules, so that reports can name an address in it */
    uint64_t start, end;
    uint8_t kind;   /* enum mz_area_kind */
    uint8_t thread; /* slot */
    uint8_t reserved[6];
};

struct mz_given_name { /* from mz_name(&x, "x"); of two names for one address the later one counts */
    uint64_t address;
    char name[56];
};

#endif
