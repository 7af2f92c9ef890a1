/* Checks whether memory changes without a hook. For undo.c, backtrack.c and executions.c.
 *
 * undo.c (MZ_UNDO_WRITES), state.c and spin.c trust the hooks: a hook announces every write to program memory
 * before it happens (mz_undo_write). These break that trust: inline assembly, functions with
 * no_sanitize_thread, objects that mazurka cc did not compile, and stores for which a compiler makes no hook.
 * This file checks in two ways.
 *
 *   At nodes      An audited execution runs from the start. At each of its nodes, all program memory is
 *                 compared with mirrors. A word that changed in a step and was not announced in that step is
 *                 an unseen write. The first executions are audited, then those whose number is a power of
 *                 two, and one in SHARE, as long as the comparisons stay within a budget (bytes for each
 *                 visible operation).
 *   At the start  Before the program runs from its start again, and at the end of the search, the whole log
 *                 is undone. Then every page must be as it was before the first step. An unseen write of any
 *                 execution since the last start is still there, because it is not in the log.
 *
 * An unseen write goes to the channel with its address, the thread that ran, and the place where that thread
 * stopped next. The search ends with MZ_END_UNSEEN, and the command starts it over in the safe mode
 * (options.safe). The safe mode does not trust the hooks: it compares pages (MZ_UNDO_PAGES) and does not
 * recognise waiting loops.
 *
 * In programs that call libc functions with unseen writes (rt.writes_unknown), the hooks are never trusted.
 * Audits of such programs (with stateless algorithms) look only at variables of instrumented modules, to name
 * them beside the verdict.
 *
 * Not checked: variables of libraries without hooks, heap blocks that their code allocated, and blocks of
 * more than 1 MiB.
 *
 * Invariants
 *  A1  While rt.auditing is set, rt.undo is MZ_UNDO_WRITES, and at every node the mirrors equal the memory.
 *  A2  An audited execution begins at the start and ends before the search goes back. */
#include "base/region.h"
#include "runtime/memory/memory.h"
#include "runtime/rewind/rewind.h"
#include "runtime/rewind/room.h"

#include <errno.h>

#define FIRST     4u                   /* the first executions are all audited */
#define POWERS    128u                 /* from here on, powers of two are audited */
#define SHARE     1024u                /* one in SHARE executions is audited */
#define ADVANCE   ((uint64_t)32 << 20) /* the budget: bytes that may be compared in any case, ... */
#define ALLOWANCE 16u                  /* ... and more bytes for each operation */
#define PAGE      4096u

#define au mz_rewind_room.audit

/* ---- unseen writes ---- */

static bool extends(struct mz_unseen_write *u, uint64_t at)
{
    if (at < u->address || at > u->address + u->size) return false;
    if (at == u->address + u->size) u->size += 8;
    return true;
}

/* Is it a variable of libc or another library without hooks? While the hooks are trusted, the functions that
 * the program calls there leave nothing in them that the program can observe later (libc.def). */
static bool is_foreign(uint64_t at)
{
    const struct mz_module *m = rt.channel->modules;
    for (uint32_t i = 0; i < rt.channel->module_count; i++)
        if (!m[i].instrumented && at >= m[i].start && at < m[i].end) return true;
    return false;
}

static void found(uint64_t at, int thread, uint64_t pc)
{
    struct mz_channel *c = rt.channel;
    if (is_foreign(at) || (au.only_ours && !mz_is_instrumented(at))) return;
    for (uint32_t i = 0; i < c->unseen_write_count; i++)
        if (extends(&c->unseen_writes[i], at)) return;
    if (c->unseen_write_count == MZ_MAX_UNSEEN_WRITES) return;
    c->unseen_writes[c->unseen_write_count++] =
        (struct mz_unseen_write){.address = at, .pc = pc, .size = 8, .thread = (uint8_t)thread};
}

/* Must the search start over? Not if it never trusted the hooks. */
bool mz_audit_failed(void)
{
    if (!rt.channel->unseen_write_count || rt.once || rt.channel->options.safe) return false;
    return !rt.writes_unknown || !rt.spin_off;
}

/* ---- comparing ---- */

static void compare(void *now, void *mirror, size_t size)
{
    uint64_t *a = now, *b = mirror;
    au.bytes += size;
    if (mz_likely(!au.equal(now, mirror, size))) return;
    const struct mz_pending *p = &rt.view.pending[rt.self];
    for (size_t i = 0; i < size / 8; i++) {
        if (a[i] == b[i]) continue;
        if (!mz_undo_announced((uintptr_t)&a[i])) found((uintptr_t)&a[i], rt.self, p->op ? p->pc : 0);
        b[i] = a[i];
    }
}

bool mz_audit_stack(void *now, void *mirror, size_t size)
{
    compare(now, mirror, size);
    return false;
}

/* Compare thread-local storage. The undo log keeps the storage of the threads that ran, so it needs no hooks
 * for their writes. But the storage belongs to the state: while rt.hashing, all threads are compared. */
static void compare_storage(uint64_t ran)
{
    if (!rt.switch_fs) return;
    for (uint32_t s = 0; s < rt.slots_known; s++) {
        char *now = (char *)rt.slots[s].fs - rt.tls_size, *mirror = au.tls + s * rt.tls_size;
        if (!rt.hashing && ran >> s & 1) {
            mz_raw_memcpy(mirror, now, rt.tls_size);
            continue;
        }
        uint64_t at = (rt.slots[s].fs - au.errno_word) & ~7ull;
        *(uint64_t *)(mirror + (at - (uintptr_t)now)) =
            *(const uint64_t *)at; /* errno may change without a hook */
        compare(now, mirror, rt.tls_size);
    }
}

static uint64_t budget(void) { return ADVANCE + ALLOWANCE * mz_explore_counters(rt.x)->operations; }

/* ---- executions ---- */

void mz_audit_init(void)
{
    au.tls = mz_region_reserve(rt.tls_size * MZ_SLOTS + 1);
    MZ_ASSERT(au.tls != NULL);
    au.errno_word = rt.slots[0].fs - (uintptr_t)&errno;
    au.equal = (int (*)(const void *, const void *, size_t))mz_next_symbol("memcmp");
}

/* Decide whether to audit the next execution. `trusted`: the search trusts the hooks. */
bool mz_audit_plan(bool trusted)
{
    bool turn =
        rt.runs <= FIRST || rt.runs % SHARE == 0 || (rt.runs >= POWERS && (rt.runs & (rt.runs - 1)) == 0);
    bool possible =
        !rt.once && !rt.channel->options.safe && !rt.channel->options.heap_reuse && (trusted || !rt.hashing);
    au.planned = turn && possible && au.bytes < budget();
    au.only_ours = !trusted;
    return au.planned;
}

/* An execution begins, and program memory has been restored. */
void mz_audit_begin(void)
{
    rt.auditing = au.planned && rt.undo == MZ_UNDO_WRITES;
    au.planned = false;
    if (!rt.auditing) return;
    for (int s = 0; s < MZ_SLOTS; s++) mz_stack_forget(s);
    mz_snapshot_mirror();
    mz_heap_mirror();
    for (uint32_t s = 0; rt.switch_fs && s < MZ_SLOTS; s++)
        mz_raw_memcpy(au.tls + s * rt.tls_size, (char *)rt.slots[s].fs - rt.tls_size, rt.tls_size);
}

void mz_audit_stop(void) { rt.auditing = false; }

/* Compare at a node, after the stacks have been compared. `ran`: threads that ran in the step. */
void mz_audit_node(uint64_t ran)
{
    mz_snapshot_compare(compare);
    if (!au.only_ours) mz_heap_compare_blocks(compare);
    compare_storage(ran);
    if (au.bytes > budget()) mz_audit_stop();
}

/* The whole log has been undone: the page must be as it was before the first step. */
static void compare_start(void *now, void *saved, size_t size)
{
    const uint64_t *a = now, *b = saved;
    if (mz_likely(!au.equal(now, saved, size))) return;
    for (size_t i = 0; i < size / 8; i++)
        if (a[i] != b[i]) found((uintptr_t)&a[i], MZ_SLOTS, 0);
}

void mz_audit_start(void)
{
    if (rt.once || rt.writes_unknown || rt.channel->options.safe || !mz_undo_all()) return;
    mz_snapshot_compare_start(compare_start);
}
