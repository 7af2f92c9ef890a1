/* Atomic sections: mz_atomic_begin and mz_atomic_end; atomics of unusual sizes (hooks/atomic.c). No other
 * thread runs in between.
 *
 * A section is one visible operation, at its beginning. At that time the runtime does not know what the
 * section will access, so the section conflicts with every operation on memory. An atomic access inside the
 * section happens, but is not an event. Every other operation that needs the scheduler is refused inside. For
 * data races, all sections are critical sections of one mutex. */
#include "runtime/core/operation.h"
#include "runtime/core/runtime.h"
#include "runtime/loops/loops.h"
#include "runtime/memory/memory.h"

/* Called when an operation is posted inside a section: refuse it unless it is an atomic access. */
void mz_section_check(uint8_t op)
{
    rt.run.threads[rt.self].simple = 0; /* the thread does not stop here */
    if (rt.section == MZ_IN_CONDITION) {
        if (op == MZ_OP_LOAD && !rt.view.pending[rt.self].direct) return;
        rt.section = 0;
        mz_unsupported(MZ_ONLY_LOADS);
    }
    if (mz_op_in(MZ_OPS_ATOMIC, op)) return;
    rt.section = 0;
    mz_unsupported("synchronization, choices or threads inside of mz_atomic_begin and mz_atomic_end",
                   "leave only accesses to memory inside");
}

void mz_section_begin(void *pc, const void *frame)
{
    if (rt.section == MZ_IN_CONDITION) {
        rt.section = 0;
        mz_unsupported(MZ_ONLY_LOADS);
    }
    if (rt.section++) return;
    rt.section = 0;
    if (rt.awaits) mz_unsupported(MZ_AWAIT_OR_SECTION);
    mz_rounds_look(0, pc, frame);
    mz_visible(MZ_OP_SECTION, 0, 0, MZ_WRITES, 0, pc);
    mz_commit(MZ_WRITES, 0);
    MZ_RECORD(MZ_OP_SECTION, 0, 0, 0, 0, 0, 0, frame);
    mz_sync_acquire();
    rt.section_object = mz_last_object();
    rt.section = 1;
}

void mz_section_end(void)
{
    if (--rt.section == 0) mz_sync_release(rt.section_object);
}

MZ_EXPORT void mazurka_atomic_begin(void);
void mazurka_atomic_begin(void)
{
    if (rt.active) mz_section_begin(MZ_PC(), MZ_FRAME());
}

MZ_EXPORT void mazurka_atomic_end(void);
void mazurka_atomic_end(void)
{
    if (!rt.active) return;
    if (!rt.section) mz_finding_here(MZ_KIND_API_MISUSE, "mz_atomic_end without mz_atomic_begin", 0, 0);
    mz_section_end();
}
