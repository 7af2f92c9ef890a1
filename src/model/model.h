/* The model of a program: threads as arrays of operations, small enough to be understood as a whole. The text
 * (text.c), the system under test (system.c) and the brute-force oracle (tests/random) share this data. Nothing
 * here runs a model.
 *
 *     var x = 1            # shared variables, semaphores: an initial value, 0 if not given
 *     mutex m
 *     cond c
 *     sem s = 2
 *     rwlock l             # "rwlock l = 1": writers first, see below
 *     once o
 *     chan h
 *
 *     thread main          # a thread that no operation spawns exists from the start
 *         spawn p
 *         read x -> r0             # an event; "-> r" may be left out
 *         write x r0               # operands are constants or registers r0 .. r3
 *         add x 1 -> r1            # fetch and add; r1 is the old value
 *         bump x -1                # an addition without a result
 *         await x > 0              # or: await x > 0 and y != 2; await x > 0 or y == r1
 *         xchg x 2 -> r1
 *         cas x 0 1 -> r1          # expected, new; r1 is 1 if it succeeded, else 0
 *         lock m
 *         trylock m -> r1          # 1 if acquired, else 0
 *         wait c m                 # nothing happens unless the thread holds m
 *         timedwait c m -> r1      # 1 if woken, 0 if it timed out
 *         signal c
 *         broadcast c
 *         unlock m                 # nothing happens unless the thread holds m
 *         sem_wait s
 *         sem_post s
 *         sem_trywait s -> r1      # 1 if it took one, else 0
 *         sem_value s -> r1
 *         rdlock l
 *         wrlock l
 *         tryrdlock l -> r1        # 1 if acquired, else 0
 *         trywrlock l -> r1
 *         rwunlock l               # nothing happens unless the thread holds l
 *         run_once o goto done     # the first thread continues here, the others at the label, after end_once
 *         end_once o               # nothing happens unless the thread runs o
 *     done:
 *         futex_wait x 1 -> r1     # 0 if x is not 1, 1 if woken
 *         futex_timedwait x 1 -> r1    # 2 if it timed out
 *         futex_wake x
 *         futex_wake_all x
 *         begin_atomic             # one event, up to end_atomic
 *         read x -> r0
 *         write x 2
 *         end_atomic
 *         send h 1 r0              # the value r0, with tag 1; tags are 0, 1 and 2
 *         receive h 1 -> r1        # the oldest message with tag 1; waits for it
 *         try_receive h 0 -> r1    # -1 if there is no message with tag 0
 *         choose 3 -> r1           # 0, 1 or 2
 *         join p
 *         let r1 = r0 + 1          # + or -
 *         if r1 != 3 goto end      # == != < >; backward too: a loop
 *         assert r1 == 3
 *     end:
 *
 *     thread p
 *         write x 1
 *
 * Meaning, the same as in the native runtime:
 *  - These are local: spawn, join, assert, let, if, end_once; an operation that does nothing because the thread
 *    holds nothing; and unlock of a mutex that the text uses nowhere with trylock. They happen within the step of
 *    the event before them (or at the start). All other operations are events.
 *  - These only read their object: read, sem_value, the waits, a timeout, a try that failed (cas, trylock,
 *    tryrdlock, trywrlock, sem_trywait), and a run_once that is already done. Taking or releasing a lock as a
 *    reader shares it, unless writers come first. A bump shares its variable. All other events write their object. Events of
 *    different threads
 *    on one object are dependent unless both read or both share. A choose has no object.
 *  - await waits until its condition holds: a comparison of a variable, or two of them. It reads both variables, whatever
 *    their values are.
 *  - Channels: sends to one channel are dependent. A send happens before the receive or try_receive that takes its message;
 *    with the try_receive it is dependent. A try_receive that finds no message is dependent with the send of the next message
 *    that it could have taken. Nothing else on a channel is dependent.
 *  - spawn: the child runs at once up to its first event. join waits without an event; when the joined thread
 *    finishes, the joiner continues within the same step. A join may wait for a thread that is not spawned yet.
 *  - wait: the event makes the thread a waiter of c. Then the thread releases m (an event if the text uses m with
 *    trylock), sleeps until it is woken, and locks m, which is an event again.
 *  - timedwait: the same, but while the thread sleeps it has one more event, the timeout, after which it locks m.
 *  - futex_wait: one event that reads x and, if x has the value, makes the thread a waiter of x. A woken thread
 *    continues at once, within the step of the futex_wake. futex_timedwait: as timedwait.
 *  - signal, futex_wake: which waiter it wakes is a choice, the number of the thread. Without a waiter, the only
 *    choice is 0.
 *  - rdlock waits while a thread holds the lock as a writer, wrlock while any thread holds it. A thread may hold
 *    the lock several times as a reader. If writers come first, a wrlock is two events: first the thread claims
 *    the lock. As long as a thread claims the lock, no thread can take it as a reader.
 *  - run_once waits while a thread runs it, even if that is the same thread.
 *  - begin_atomic: an atomic section is one event, in which the thread does the operations that follow: read,
 *    write, add, xchg, cas, let, if, assert. It ends before the first other operation (end_atomic, which has no
 *    other effect), or with the thread. Sections of different threads are dependent, and so are a section and any
 *    event on a variable. In a program in which a section happens, a cas that failed writes.
 *  - Happens-before is the order of each thread, the order of dependent events, and: spawner before child; the end
 *    of a thread before the join; a local unlock, with everything before it, before the next lock; end_once before
 *    a run_once that finds it done; a signal before the lock that ends the wait of the woken thread; a futex_wake
 *    before the next operation of the woken thread.
 *  - An assertion that fails stops its thread for good: it is not finished, but not blocked either.
 *  - Values wrap at 16 bits.
 *
 * Invariants, checked by mz_model_check():
 *  M1  A jump goes at most to the end of the thread. A run_once only jumps forward. An `if` may jump backward, in a
 *      thread without atomic sections. Every path through such a loop has an operation that is always an event,
 *      and no spawn. A program without such jumps terminates.
 *  M2  At most one operation of the whole text spawns a given thread, so threads do not race to spawn it.
 *  M3  All numbers of objects, threads and registers are within their counts.
 *  M4  The text has at most MZ_MODEL_MESSAGES sends, none in a loop. Only one thread receives from a channel.
 *  M5  The text does not have both an await and an atomic section: what sections do to memory are not events, so the value
 *      of a variable in an execution without some of its events is not known (trace/await.c).
 */
#ifndef MZ_MODEL_MODEL_H
#define MZ_MODEL_MODEL_H

#include <stdint.h>

#define MZ_MODEL_THREADS  8
#define MZ_MODEL_OPS      31 /* of one thread; a thread has fewer than 128 events, for the oracle's clocks */
#define MZ_MODEL_REGS     4
#define MZ_MODEL_OBJECTS  8 /* of one kind */
#define MZ_MODEL_CHOICES  8
#define MZ_MODEL_NAME     16
#define MZ_MODEL_EVENTS   (4 * MZ_MODEL_OPS) /* of one thread: a timed wait has four events */
#define MZ_MODEL_TAGS     3
#define MZ_MODEL_MESSAGES 12
#define MZ_MODEL_NOWHERE  MZ_MODEL_REGS /* as a result register: the result is dropped */

typedef int16_t mz_model_value;

enum mz_model_kind {
    MZ_MODEL_VAR,
    MZ_MODEL_MUTEX,
    MZ_MODEL_COND,
    MZ_MODEL_SEM,
    MZ_MODEL_RWLOCK,
    MZ_MODEL_ONCES,
    MZ_MODEL_CHAN,
    MZ_MODEL_KINDS
};

enum mz_model_code {
    MZ_MODEL_READ,
    MZ_MODEL_WRITE,
    MZ_MODEL_ADD,
    MZ_MODEL_XCHG,
    MZ_MODEL_CAS,
    MZ_MODEL_LOCK,
    MZ_MODEL_TRYLOCK,
    MZ_MODEL_UNLOCK,
    MZ_MODEL_WAIT,
    MZ_MODEL_SIGNAL,
    MZ_MODEL_BROADCAST,
    MZ_MODEL_SEM_WAIT,
    MZ_MODEL_SEM_POST,
    MZ_MODEL_TIMEDWAIT,
    MZ_MODEL_SEM_TRY,
    MZ_MODEL_SEM_VALUE,
    MZ_MODEL_RDLOCK,
    MZ_MODEL_WRLOCK,
    MZ_MODEL_TRYRDLOCK,
    MZ_MODEL_TRYWRLOCK,
    MZ_MODEL_RWUNLOCK,
    MZ_MODEL_ONCE,
    MZ_MODEL_ONCE_END,
    MZ_MODEL_FUTEX_WAIT,
    MZ_MODEL_FUTEX_TIMEDWAIT,
    MZ_MODEL_FUTEX_WAKE,
    MZ_MODEL_FUTEX_WAKE_ALL,
    MZ_MODEL_SECTION,
    MZ_MODEL_SECTION_END,
    MZ_MODEL_BUMP,
    MZ_MODEL_AWAIT,
    MZ_MODEL_SEND,
    MZ_MODEL_RECEIVE,
    MZ_MODEL_TRY_RECEIVE,
    MZ_MODEL_CHOOSE,
    MZ_MODEL_SPAWN,
    MZ_MODEL_JOIN,
    MZ_MODEL_ASSERT,
    MZ_MODEL_LET,
    MZ_MODEL_IF,
    MZ_MODEL_CODES
};

enum mz_model_relation { MZ_MODEL_EQ, MZ_MODEL_NE, MZ_MODEL_LT, MZ_MODEL_GT, MZ_MODEL_PLUS, MZ_MODEL_MINUS };

struct mz_model_operand {
    uint8_t is_register;
    mz_model_value value; /* the constant, or the register's number */
};

struct mz_model_op {
    uint8_t code; /* enum mz_model_code */
    /* Number of the object among those of its kind; SPAWN, JOIN: of the thread. */
    uint8_t object;
    uint8_t mutex;                /* WAIT, TIMEDWAIT; AWAIT: the second variable; of channels: the tag */
    uint8_t result;               /* register, or MZ_MODEL_NOWHERE */
    uint8_t relation;             /* ASSERT, IF, AWAIT: a comparison; LET: PLUS or MINUS */
    uint8_t joint, relation2;     /* AWAIT: enum mz_model_joint; the second comparison */
    uint8_t target;               /* IF, ONCE: index of the operation to continue with */
    struct mz_model_operand a, b; /* CAS: expected, new; CHOOSE: a is the number of choices */
};

enum mz_model_joint { MZ_MODEL_ALONE, MZ_MODEL_AND, MZ_MODEL_OR };

struct mz_model_thread {
    char name[MZ_MODEL_NAME];
    uint8_t length;
    struct mz_model_op ops[MZ_MODEL_OPS];
};

struct mz_model {
    uint8_t thread_count;
    uint8_t object_count[MZ_MODEL_KINDS];
    mz_model_value initial[MZ_MODEL_KINDS][MZ_MODEL_OBJECTS]; /* of variables, semaphores, rwlocks */
    char name[MZ_MODEL_KINDS][MZ_MODEL_OBJECTS][MZ_MODEL_NAME];
    struct mz_model_thread threads[MZ_MODEL_THREADS];
};

enum mz_model_status {
    MZ_MODEL_ABSENT, /* never spawned */
    MZ_MODEL_READY,  /* has an enabled event; not at the end of an execution */
    MZ_MODEL_FINISHED,
    MZ_MODEL_FAILED, /* by an assertion */
    MZ_MODEL_LOCKING,
    MZ_MODEL_WAITING,
    MZ_MODEL_JOINING,
    MZ_MODEL_SEM_WAITING,
    MZ_MODEL_RD_LOCKING,
    MZ_MODEL_WR_LOCKING,
    MZ_MODEL_ONCE_WAITING,
    MZ_MODEL_AWAITING,
    MZ_MODEL_RECEIVING
};

/* How an execution ended. Plain bytes: two outcomes are equal if memcmp says so. */
struct mz_model_outcome {
    mz_model_value vars[MZ_MODEL_OBJECTS];
    mz_model_value regs[MZ_MODEL_THREADS][MZ_MODEL_REGS];
    uint8_t pc[MZ_MODEL_THREADS]; /* of the current operation; the thread's length if it has finished */
    uint8_t status[MZ_MODEL_THREADS];
    uint8_t blocked, failed; /* sets of threads; blocked: a deadlock */
};

/* Returns the kind of object that an operation is on; MZ_MODEL_KINDS if none. */
enum mz_model_kind mz_model_kind_of(uint8_t code);
static inline int mz_model_has_mutex(uint8_t code)
{
    return code == MZ_MODEL_WAIT || code == MZ_MODEL_TIMEDWAIT;
}
static inline int mz_model_jumps(uint8_t code) { return code == MZ_MODEL_IF || code == MZ_MODEL_ONCE; }
/* May the operation be part of an atomic section, as an access to memory (accesses) or otherwise
 * (computes)? */
static inline int mz_model_accesses(uint8_t code) { return code <= MZ_MODEL_CAS; }
static inline int mz_model_computes(uint8_t code)
{
    return code == MZ_MODEL_LET || code == MZ_MODEL_IF || code == MZ_MODEL_ASSERT;
}
/* Is the second variable of an AWAIT in use? */
static inline int mz_model_is_joint(const struct mz_model_op *op)
{
    return op->code == MZ_MODEL_AWAIT && op->joint != MZ_MODEL_ALONE;
}
/* Returns a message if the model breaks M1 to M5, else NULL. */
const char *mz_model_check(const struct mz_model *m);
/* Does a jump go backward? Then executions may be endless, and only stateful algorithms can explore the
 * model. */
int mz_model_loops(const struct mz_model *m);

#endif
