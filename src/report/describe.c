/* What is wrong, in words: the message of a finding. See collect_internal.h. */
#include "report/collect_internal.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include "report/symbolize/blocks.h"
#include "base/memory.h"

void mz_describe_signal(struct mz_strbuf *out, int signal, uint64_t address)
{
    static const struct {
        int signal;
        const char *name, *text;
    } table[] = {{SIGSEGV, "SIGSEGV", "invalid memory access"},
                 {SIGBUS, "SIGBUS", "bus error"},
                 {SIGFPE, "SIGFPE", "arithmetic error such as a division by zero"},
                 {SIGILL, "SIGILL", "illegal instruction"},
                 {SIGABRT, "SIGABRT", "abort() was called"},
                 {SIGTRAP, "SIGTRAP", "trap"},
                 {SIGKILL, "SIGKILL", "killed from outside, perhaps for lack of memory"}};
    size_t i = 0, count = sizeof table / sizeof *table;
    while (i < count && table[i].signal != signal) i++;
    bool at_null = signal == SIGSEGV && address < 4096, has_address = signal == SIGSEGV || signal == SIGBUS;
    mz_strbuf_add(out, at_null ? "null pointer access" : i < count ? table[i].text : "ended by a signal");
    if (has_address && address != UINT64_MAX) mz_strbuf_addf(out, " at address 0x%" PRIx64, address);
    if (i < count)
        mz_strbuf_addf(out, " (%s)", table[i].name);
    else
        mz_strbuf_addf(out, " (signal %d)", signal);
}

bool mz_describe_is_blocked(unsigned state)
{
    return state == MZ_THREAD_LOCKING || state == MZ_THREAD_WAITING || state == MZ_THREAD_JOINING ||
           state == MZ_THREAD_SEMWAIT || state == MZ_THREAD_BARRIER || state == MZ_THREAD_FUTEX ||
           state == MZ_THREAD_SIGWAIT;
}

/* A thread that waits for a lock, if possible on a cycle of such threads; -1: there is none. */
static int find_circle(const struct mz_finding *f, uint64_t *circle)
{
    int any = -1;
    for (int start = 0; start < MZ_MAX_THREADS; start++) {
        uint64_t seen = 0;
        int at = start;
        while (at >= 0 && at < MZ_MAX_THREADS && f->threads[at].state == MZ_THREAD_LOCKING &&
               !(seen >> at & 1)) {
            seen |= 1ull << at;
            at = f->threads[at].holder;
        }
        if (seen && any < 0) any = start;
        if (seen && at == start) {
            *circle = seen;
            return start;
        }
    }
    *circle = 0;
    return any;
}

static void describe_deadlock(struct mz_strbuf *out, const struct mz_channel *c, const struct mz_finding *f)
{
    unsigned blocked = 0;
    uint64_t circle;
    int start = find_circle(f, &circle);
    for (int i = 0; i < MZ_MAX_THREADS; i++) blocked += mz_describe_is_blocked(f->threads[i].state);
    if (circle && f->threads[start].holder == start) {
        const char *what = mz_object_kinds[mz_op_info(f->threads[start].op)->object].itself;
        mz_strbuf_addf(out, "deadlock: thread %s waits for %s itself", c->threads[start].name,
                       what ? what : "what it holds");
    } else if (circle) {
        mz_strbuf_add(out, "deadlock: threads");
        for (int i = 0, n = 0; i < MZ_MAX_THREADS; i++)
            if (circle >> i & 1) mz_strbuf_addf(out, "%s %s", n++ ? " and" : "", c->threads[i].name);
        mz_strbuf_add(out, " wait for each other");
    } else if (blocked == 1) {
        mz_strbuf_add(out, "deadlock: the last thread waits for ever");
    } else {
        mz_strbuf_addf(out, "deadlock: %u threads wait and none can go on", blocked);
    }
}

/* The thread of a deadlock that explains most: one that waits for a mutex, otherwise one that waits for a signal,
 * otherwise one that joins another thread. */
uint8_t mz_describe_deadlocked_thread(const struct mz_finding *f)
{
    uint64_t circle;
    int start = find_circle(f, &circle);
    if (start >= 0) return (uint8_t)start;
    for (int i = 0; i < MZ_MAX_THREADS; i++)
        if (mz_describe_is_blocked(f->threads[i].state) && f->threads[i].state != MZ_THREAD_JOINING)
            return (uint8_t)i;
    return f->thread;
}

char *mz_describe_finding(struct mz_symbols *s, const struct mz_channel *c, const struct mz_finding *f,
                          const char *object)
{
    struct mz_strbuf b = {0};
    switch (f->kind) {
    case MZ_KIND_USE_AFTER_FREE:
    case MZ_KIND_DOUBLE_FREE:
    case MZ_KIND_INVALID_FREE:
    case MZ_KIND_OUT_OF_BOUNDS:
    case MZ_KIND_LEAK:
        return mz_describe_memory(s, f);
    case MZ_KIND_ASSERTION:
        mz_strbuf_addf(&b, "assertion failed: %s", f->text);
        break;
    case MZ_KIND_DEADLOCK:
        describe_deadlock(&b, c, f);
        break;
    case MZ_KIND_DATA_RACE:
        mz_strbuf_addf(&b, "data race on %s", object ? object : "?");
        if (f->area != MZ_AREA_HEAP) break;
        mz_strbuf_add(&b, ", ");
        mz_describe_position(s, f, &b);
        break;
    case MZ_KIND_EXIT_CODE:
        mz_strbuf_addf(&b, "the program ended with exit status %d", f->code);
        break;
    case MZ_KIND_CRASH:
        mz_strbuf_add(&b, "crash: ");
        if (f->text[0])
            mz_strbuf_add(&b, f->text);
        else
            mz_describe_signal(&b, f->code, f->address);
        break;
    default: {
        char *kind = mz_memory_string(mz_kind_name((enum mz_kind)f->kind));
        for (char *p = kind; *p; p++)
            if (*p == '-') *p = ' ';
        mz_strbuf_add(&b, kind);
        if (f->text[0]) mz_strbuf_addf(&b, ": %s", f->text);
        free(kind);
    }
    }
    return mz_strbuf_take(&b);
}
