/* Message channels (mazurka.h): messages with tags, received by one thread, the oldest of a tag first.
 *
 * The state of a channel and its messages lie in program memory. The program's own code allocates and frees messages
 * (mazurka.h), and the functions here link them. trace/object.c says which operations are in conflict. */
#include "runtime/core/operation.h"
#include "runtime/loops/loops.h"
#include "runtime/memory/memory.h"
#include "runtime/rewind/rewind.h"
#include "runtime/sync/sync.h"

struct message { /* struct mz_channel_message in mazurka.h */
    struct message *next;
    uint64_t content;
};

struct channel { /* the beginning of mz_channel in mazurka.h */
    uint32_t mark;
    uint32_t receiver; /* slot + 1 of the thread that receives; 0: none yet */
    struct message *first[MZ_TAGS], *last[MZ_TAGS];
    uint32_t sent[MZ_TAGS],
        received[MZ_TAGS]; /* 0 in stateful searches, which would tell states apart by them */
};

#define OPEN 0x6d7a6368u

static void check(struct channel *c, unsigned tag)
{
    if (c->mark == MZ_DESTROYED) mz_misuse("use of a channel that was destroyed", c);
    if (c->mark != OPEN) mz_misuse("use of a channel that was never created", c);
    if (tag >= MZ_TAGS) mz_misuse("a tag of a message must be less than MZ_CHANNEL_TAGS", c);
}

static void check_receiver(struct channel *c, unsigned tag)
{
    check(c, tag);
    if (c->receiver == (uint32_t)rt.self + 1) return;
    if (c->receiver) mz_misuse("two threads receive from one channel", c);
    mz_keep_program(c, sizeof *c);
    c->receiver = (uint32_t)rt.self + 1;
}

static void append(struct channel *c, unsigned tag, struct message *m)
{
    struct message *last = c->last[tag];
    mz_keep_program(c, sizeof *c);
    if (last) mz_keep_program(last, sizeof *last);
    *(last ? &last->next : &c->first[tag]) = m;
    c->last[tag] = m;
    if (!rt.stateful) c->sent[tag]++;
}

static struct message *take(struct channel *c, unsigned tag)
{
    struct message *m = c->first[tag];
    if (!m) return NULL;
    mz_keep_program(c, sizeof *c);
    c->first[tag] = m->next;
    if (!m->next) c->last[tag] = NULL;
    if (!rt.stateful) c->received[tag]++;
    return m;
}

/* The channel has one message more: let its receiver go, and tell the other senders what they would send now. */
static void announce(const struct channel *c, unsigned tag)
{
    uint64_t message = mz_message(tag, c->sent[tag]);
    for (uint64_t t = mz_pending_on((uintptr_t)c, MZ_OP_SEND) & ~mz_slot_bit(rt.self); t; t &= t - 1) {
        struct mz_pending *p = &rt.view.pending[__builtin_ctzll(t)];
        if (p->expected >> 32 == tag) p->expected = message;
    }
    for (uint64_t t = mz_pending_on((uintptr_t)c, MZ_OP_RECEIVE); t; t &= t - 1)
        if (rt.view.pending[__builtin_ctzll(t)].expected >> 32 == tag) mz_enable(t & -t, true);
}

MZ_EXPORT void mazurka_channel_open(void *channel);
void mazurka_channel_open(void *channel)
{
    struct channel *c = channel;
    mz_object_written(c, sizeof *c, MZ_PC(), MZ_FRAME());
    mz_keep_program(c, sizeof *c);
    *c = (struct channel){.mark = OPEN};
}

MZ_EXPORT void mazurka_channel_close(void *channel);
void mazurka_channel_close(void *channel)
{
    struct channel *c = channel;
    check(c, 0);
    mz_object_written(c, sizeof *c, MZ_PC(), MZ_FRAME());
    mz_keep_program(c, sizeof *c);
    c->mark = MZ_DESTROYED;
}

MZ_EXPORT void mazurka_channel_send(void *channel, unsigned tag, void *message);
void mazurka_channel_send(void *channel, unsigned tag, void *message)
{
    struct channel *c = channel;
    check(c, tag);
    if (!rt.active) {
        append(c, tag, message);
        return;
    }
    mz_rounds_look((uintptr_t)c, MZ_PC(), MZ_FRAME());
    mz_visible(MZ_OP_SEND, (uintptr_t)c, 0, MZ_WRITES, mz_message(tag, c->sent[tag]), MZ_PC());
    check(c, tag);
    append(c, tag, message);
    mz_changed();
    announce(c, tag);
    mz_commit_use(MZ_WRITES, 0);
    MZ_RECORD(MZ_OP_SEND, (uintptr_t)c, 0, MZ_RECORD_HAS_VALUE, ((struct message *)message)->content, 0, 0,
              MZ_FRAME());
    mz_sync_release_part(mz_last_object());
}

MZ_EXPORT void *mazurka_channel_receive(void *channel, unsigned tag);
void *mazurka_channel_receive(void *channel, unsigned tag)
{
    struct channel *c = channel;
    check_receiver(c, tag);
    if (!rt.active) return take(c, tag);
    mz_rounds_look((uintptr_t)c, MZ_PC(), MZ_FRAME());
    rt.hooks++;
    mz_before(MZ_PC());
    mz_post(MZ_OP_RECEIVE, (uintptr_t)c, MZ_READS, c->first[tag] != NULL, MZ_PC());
    rt.view.pending[rt.self].expected = mz_message(tag, c->received[tag]);
    mz_dispatch();
    rt.run.threads[rt.self].state = MZ_THREAD_RUNNABLE;
    check(c, tag);
    struct message *m = take(c, tag);
    mz_changed();
    mz_commit_use(MZ_READS, 0);
    MZ_RECORD(MZ_OP_RECEIVE, (uintptr_t)c, 0, MZ_RECORD_HAS_VALUE, m->content, 0, 0, MZ_FRAME());
    mz_sync_acquire_all(rt.self, mz_last_object());
    return m;
}

MZ_EXPORT void *mazurka_channel_try_receive(void *channel, unsigned tag);
void *mazurka_channel_try_receive(void *channel, unsigned tag)
{
    struct channel *c = channel;
    check_receiver(c, tag);
    if (!rt.active) return take(c, tag);
    mz_spin((uintptr_t)c, MZ_PC(), MZ_FRAME());
    mz_visible(MZ_OP_TRY_RECEIVE, (uintptr_t)c, 0, MZ_READS, mz_message(tag, c->received[tag]), MZ_PC());
    check(c, tag);
    struct message *m = take(c, tag);
    if (m) mz_changed();
    mz_commit_use(MZ_READS, 0);
    MZ_RECORD(MZ_OP_TRY_RECEIVE, (uintptr_t)c, 0, m ? MZ_RECORD_HAS_VALUE : MZ_RECORD_FAILED,
              m ? m->content : 0, 0, 0, MZ_FRAME());
    if (m) mz_sync_acquire_all(rt.self, mz_last_object());
    return m;
}
