/* Operations of a program: the vocabulary shared by runtime, engine, model, trace files and reports. */
#ifndef MZ_EVENT_OP_H
#define MZ_EVENT_OP_H

enum mz_op {
#define OP(name, text, when) MZ_OP_##name,
#include "op.def"
#undef OP
    MZ_OP_COUNT
};

const char *mz_op_name(enum mz_op op);

/* How an event uses its object. Two events of different threads on one object are dependent unless both read
 * or both share. To share is to change it in a way that commutes with what others who share do: to take or
 * give back a read lock. For CAS, the try operations and ONCE this is known only when the event happens. */
enum mz_access { MZ_READS = 0, MZ_WRITES = 1, MZ_SHARES = 2 };

#endif
