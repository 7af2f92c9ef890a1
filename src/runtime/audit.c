/* Does memory change without a hook?
 *
 * undo.c (MZ_UNDO_WRITES), state.c and spin.c trust the hooks: every write to program memory is announced before it
 * happens (mz_undo_write). Inline assembly, functions with no_sanitize_thread, objects that mazurka cc did not
 * compile and stores that a compiler does not show break that trust. This file checks it in two ways.
 *
 *   At nodes     An audited execution runs from the start. At each of its nodes all program memory is compared with
 *                mirrors. A word that has changed in a step, and was not announced in that step, is an unseen write.
 *                Audited are the first executions, then those whose number is a power of two and one in SHARE,
 *                as long as comparing stays within a budget (bytes for each visible operation).
 *   At the start Before the program runs from its start again, and at the end of the search, the whole log is taken
 *                back: then every page must be as it was before the first step. An unseen write of any execution
 *                since the last start is still there, because going back does not take it back.
 *
 * An unseen write goes to the channel with its address, the thread that ran, and the place where that thread stopped
 * next. The search ends with MZ_END_UNSEEN, and the command starts it over in the safe mode (options.safe), which
 * does not trust the hooks: pages are compared (MZ_UNDO_PAGES), loops that wait are not recognised.
 *
 * Programs that call libc functions which write unseen (rt.writes_unknown) never trust the hooks; their audits
 * (of stateless algorithms) only look at variables of instrumented modules, to name them beside the verdict.
 *
 * Not looked at: variables of libraries without hooks, blocks of the heap that their code allocated, and blocks of
 * more than 1 MiB.
 *
 * Invariants
 *  A1  While rt.auditing is set, the mirrors equal at every node what they mirror; rt.undo is MZ_UNDO_WRITES.
 *  A2  An audited execution begins at the start and ends before the search goes back. */
#include "audit.h"
#include "heap.h"
#include "state.h"

#include "../base/region.h"

#include <errno.h>

#define FIRST     4u                   /* executions that are all audited */
#define POWERS    128u                 /* from here on, powers of two are */
#define SHARE     1024u                /* later: one execution of these is audited */
#define ADVANCE   ((uint64_t)32 << 20) /* bytes that may be compared before any operation has happened ... */
#define ALLOWANCE 16u                  /* ... and for each operation */
#define PAGE      4096u

static struct {
    bool planned;   /* the next one from the start will be */
    bool only_ours; /* look at variables of instrumented modules only */
    uint64_t bytes; /* compared so far */
    char *tls;      /* mirrors of thread-local storage, rt.tls_size bytes for each slot */
    uint64_t errno_word;
    int (*equal)(const void *, const void *, size_t); /* memcmp of libc */
} au;

/* ---- unseen writes ---- */

static bool extends(struct mz_unseen_write *u, uint64_t at)
{
    if (at < u->address || at > u->address + u->size) return false;
    if (at == u->address + u->size) u->size += 8;
    return true;
}

/* Variables of libc and other libraries without hooks: what the program calls of them, while the hooks are trusted,
 * leaves nothing there that it could look at later (libc.def). */
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

/* Must the search start over? Not if it has never trusted the hooks. */
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

/* What a thread writes to its own storage is put back with the thread, but belongs to the state. */
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
            *(const uint64_t *)at; /* errno has a place of its own */
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

/* Is the next execution to be audited? `trusted`: the search relies on the hooks. */
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

/* An execution begins, memory has been put back. */
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

/* At a node; stacks have been looked at. `ran`: threads that ran in the step. */
void mz_audit_node(uint64_t ran)
{
    mz_snapshot_compare(compare);
    if (!au.only_ours) mz_heap_compare_blocks(compare);
    compare_storage(ran);
    if (au.bytes > budget()) mz_audit_stop();
}

/* The log has been taken back to before the first step: pages must be as they were then. */
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
