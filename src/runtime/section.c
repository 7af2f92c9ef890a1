/* Atomic sections: mz_atomic_begin and mz_atomic_end. No other thread runs in between.
 *
 * A section is one visible operation, at its begin; what it touches is not known then, so it is in conflict
 * with every operation on memory. The atomic operations inside are performed but are no operations of their
 * own; whatever else would need the scheduler inside is refused. For data races sections are like critical
 * sections of one mutex. */
#include "runtime.h"

/* An operation is about to be posted inside a section. */
void mz_section_check(uint8_t op)
{
    rt.run.threads[rt.self].simple = 0; /* it is not stopped */
    if (op >= MZ_OP_LOAD && op <= MZ_OP_CAS) return;
    rt.section = 0;
    mz_unsupported("synchronization, choices or threads inside of mz_atomic_begin and mz_atomic_end",
                   "leave only accesses to memory inside");
}

MZ_EXPORT void mazurka_atomic_begin(void);
void mazurka_atomic_begin(void)
{
    if (!rt.active || rt.section++) return;
    rt.section = 0;
    mz_visible(MZ_OP_SECTION, 0, 0, MZ_WRITES, 0, MZ_PC());
    mz_commit(MZ_WRITES, 0);
    MZ_RECORD(MZ_OP_SECTION, 0, 0, 0, 0, 0, 0, MZ_FRAME());
    mz_sync_acquire();
    rt.section_object = mz_last_object();
    rt.section = 1;
}

MZ_EXPORT void mazurka_atomic_end(void);
void mazurka_atomic_end(void)
{
    if (!rt.active) return;
    if (!rt.section) mz_finding_here(MZ_KIND_API_MISUSE, "mz_atomic_end without mz_atomic_begin", 0, 0);
    if (--rt.section == 0) mz_sync_release(rt.section_object);
}
