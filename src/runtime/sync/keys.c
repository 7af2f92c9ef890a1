/* Thread-specific data, and the destructors that run when a thread ends: first those of thread-local C++
 * objects, then those of keys.
 *
 * The number of a key depends only on the thread that creates it and on how many keys that thread created
 * before, as with addresses of the heap. Before main there is only the main thread; the values that it sets
 * then exist in every execution.
 *
 * None of these operations is an event. POSIX leaves the use of a deleted key undefined, so we report it as
 * misuse. A use that is not ordered with the deletion is misuse, too, in whichever order the two come in this
 * execution. To check this, the runtime knows for every key in which epoch each thread used it last (in the
 * C11 order), and in which epoch it was deleted. A destructor that runs is a use. A destructor that does not
 * run because the key was deleted is a use, too.
 *
 * Whether a deletion is ordered with the uses depends on the past, like a data race. So for a stateful
 * search, the uses and the deletion of a key are entries of the race history (race_history.c). Most keys are
 * never deleted while other threads exist and need no entries. A key is *watched* from its first such
 * deletion on, and the search starts over then. */
#define _GNU_SOURCE
#include "base/region.h"
#include "event/finished.h"
#include "runtime/core/operation.h"
#include "runtime/memory/memory.h"
#include "runtime/memory/race_order.h"
#include "runtime/memory/races.h"
#include "runtime/rewind/rewind.h"
#include "runtime/sync/room.h"
#include "runtime/sync/sync.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>

#define OTHER_KEYS 8u
#define ROUNDS     PTHREAD_DESTRUCTOR_ITERATIONS

#define k mz_sync_room.keys

void mz_keys_init(void)
{
    mz_raw_memcpy(k.first, k.values[0], sizeof k.first);
    k.boot_keys = rt.run.threads[0].keys_made;
    k.boot_values = rt.run.threads[0].keys_set;
    mz_raw_memcpy(k.boot, k.keys, k.boot_keys * sizeof *k.keys);
    k.at_end_boot = k.at_end_count;
    k.at_end_main = rt.run.threads[0].at_end;
}

static uint32_t first_key(uint32_t slot) { return slot ? MZ_MAIN_KEYS + (slot - 1) * OTHER_KEYS : 0; }

void mz_keys_reset(void)
{
    for (uint32_t s = 0; s < rt.slots_known; s++) {
        const struct mz_thread *t = &rt.run.threads[s];
        if (t->keys_set) mz_raw_memset(k.values[s], 0, sizeof k.values[s]);
        mz_raw_memset(&k.keys[first_key(s)], 0, t->keys_made * sizeof *k.keys);
    }
    mz_raw_memcpy(k.keys, k.boot, k.boot_keys * sizeof *k.keys);
    if (k.boot_values) mz_raw_memcpy(k.values[0], k.first, sizeof k.first);
    mz_raw_memset(&k.at_end[k.at_end_boot], 0, (k.at_end_count - k.at_end_boot) * sizeof *k.at_end);
    k.at_end_count = k.at_end_boot;
}

static void forget_uses(uint32_t key)
{
    mz_raw_memset(k.used[key], 0, sizeof k.used[key]);
    mz_raw_memset(k.noted[key], 0, sizeof k.noted[key]);
}

/* Called after the states of the threads were cleared. */
void mz_keys_begin(void)
{
    rt.run.threads[0].keys_made = k.boot_keys;
    rt.run.threads[0].keys_set = k.boot_values;
    rt.run.threads[0].at_end = k.at_end_main;
    for (uint32_t key = 0; key < k.boot_keys; key++) forget_uses(key);
}

static bool is_made(pthread_key_t key) { return key < MZ_KEYS && k.keys[key].made; }

static bool is_deleted(pthread_key_t key) { return k.keys[key].deleted; }

/* Does epoch `epoch` of thread `other` happen before what the running thread does now? During replay the
 * answer is not known (race_order.c). It was yes when the path was live. */
static bool ordered(int other, uint32_t epoch) { return !rt.path->live || mz_happens_before(other, epoch); }

static void check(pthread_key_t key)
{
    if (!is_made(key)) mz_misuse("use of a thread-specific key that was never created", NULL);
    if (is_deleted(key)) mz_misuse("use of a thread-specific key that was deleted", NULL);
}

/* ---- uses and deletions as a part of the state ---- */

/* The granule that stands for the key in the race history. It lies in the runtime's own memory, so no access
 * of the program has it. */
static uint64_t granule_of(pthread_key_t key) { return (uintptr_t)&k.keys[key] / 4; }

static void note(pthread_key_t key, uint32_t epoch, enum mz_race_kind kind, bool now)
{
    mz_races_entry(MZ_PLACE_FULL, rt.self, epoch, kind, granule_of(key), 1, now);
}

static void note_use(pthread_key_t key, uint32_t epoch)
{
    uint32_t *before = &k.noted[key][rt.self];
    if (!rt.stateful || !k.watched[key] || *before == epoch) return;
    if (*before) note(key, *before, MZ_PLAIN_READ, false);
    mz_keep(before, sizeof *before);
    *before = epoch;
    note(key, epoch, MZ_PLAIN_READ, true);
}

static void watch(pthread_key_t key)
{
    if (k.watched[key]) return;
    k.watched[key] = k.is_news = true;
    mz_places_stale();
}

static void note_deletion(pthread_key_t key, uint32_t epoch)
{
    if (!rt.stateful) return;
    if (!mz_alone(rt.self)) watch(key);
    if (k.watched[key]) note(key, epoch, MZ_PLAIN_WRITE, true);
}

/* Tell other workers which keys are watched. */
bool mz_keys_tell(struct mz_finished *to)
{
    for (uint32_t key = 0; key < MZ_KEYS && k.is_news; key++) {
        struct mz_fact fact = {.kind = MZ_FACT_KEY, .small = {key}};
        if (!k.watched[key] || k.told[key]) continue;
        if (!mz_finished_tell(to, &fact)) return false;
        k.told[key] = true;
    }
    k.is_news = false;
    return true;
}

void mz_key_learn(const struct mz_fact *fact)
{
    uint32_t key = fact->small[0] % MZ_KEYS;
    watch(key);
    k.told[key] = true;
}

/* Declared in races.h: calls f for every use and deletion that the race history contains. */
void mz_keys_past(void (*f)(void *data, uint64_t granule, int thread, uint32_t epoch, enum mz_race_kind kind),
                  void *data)
{
    for (uint32_t key = 0; key < MZ_KEYS; key++) {
        if (!k.watched[key] || !k.keys[key].made) continue;
        for (uint32_t s = 0; s < rt.slots_known; s++)
            if (k.noted[key][s]) f(data, granule_of(key), (int)s, k.noted[key][s], MZ_PLAIN_READ);
        if (!k.keys[key].deleted) continue;
        f(data, granule_of(key), k.deletions[key].by, k.deletions[key].epoch, MZ_PLAIN_WRITE);
    }
}

/* ---- keys ---- */

static void use(pthread_key_t key)
{
    uint32_t epoch = rt.run.threads[rt.self].epoch;
    if (!rt.active) return;
    check(key);
    mz_keep(&k.used[key][rt.self], sizeof k.used[key][rt.self]);
    k.used[key][rt.self] = epoch;
    note_use(key, epoch);
}

MZ_EXPORT int pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
    struct mz_thread *t = &rt.run.threads[rt.self];
    uint32_t room = rt.self ? OTHER_KEYS : MZ_MAIN_KEYS;
    if (t->keys_made == room)
        mz_unsupported(rt.self ? "more than 8 keys created by a thread other than main"
                               : "more than 520 keys",
                       "create them in main, or create fewer");
    uint32_t number = first_key(rt.self) + t->keys_made++;
    mz_keep_state(&k.keys[number], sizeof k.keys[number]);
    mz_keep(k.used[number], sizeof k.used[number]);
    mz_keep(k.noted[number], sizeof k.noted[number]);
    mz_changed();
    k.keys[number] = (struct mz_key){destructor, 1, 0};
    forget_uses(number);
    mz_object_written(key, sizeof *key, MZ_PC(), MZ_FRAME());
    *key = number;
    return 0;
}

MZ_EXPORT int pthread_key_delete(pthread_key_t key)
{
    if (!rt.active) return 0;
    check(key);
    for (uint32_t slot = 0; slot < rt.slots_known; slot++)
        if (k.used[key][slot] && !ordered((int)slot, k.used[key][slot]))
            mz_misuse("a thread-specific key is deleted while another thread may be using it", NULL);
    mz_keep_state(&k.keys[key], sizeof k.keys[key]);
    mz_keep(&k.deletions[key], sizeof k.deletions[key]);
    mz_changed();
    k.keys[key].deleted = 1;
    k.deletions[key].by = rt.self;
    k.deletions[key].epoch = rt.run.threads[rt.self].epoch;
    note_deletion(key, k.deletions[key].epoch);
    return 0;
}

MZ_EXPORT void *pthread_getspecific(pthread_key_t key)
{
    use(key);
    return key < MZ_KEYS ? k.values[rt.self][key] : NULL;
}

MZ_EXPORT int pthread_setspecific(pthread_key_t key, const void *value)
{
    use(key);
    if (key >= MZ_KEYS) return EINVAL;
    mz_keep(&k.values[rt.self][key], sizeof k.values[rt.self][key]);
    k.values[rt.self][key] = (void *)(uintptr_t)value;
    rt.run.threads[rt.self].keys_set = 1;
    mz_changed();
    return 0;
}

static bool destroy_values(void)
{
    bool any = false;
    for (uint32_t key = 0; key < MZ_KEYS; key++) {
        void *value = k.values[rt.self][key];
        if (!value || !k.keys[key].destructor) continue;
        if (is_deleted(key)) {
            if (!ordered(k.deletions[key].by, k.deletions[key].epoch))
                mz_misuse("a thread-specific key is deleted while a thread with a value ends", NULL);
            continue;
        }
        use(key);
        mz_keep(&k.values[rt.self][key], sizeof k.values[rt.self][key]);
        k.values[rt.self][key] = NULL;
        any = true;
        k.keys[key].destructor(value);
    }
    return any;
}

MZ_EXPORT int __cxa_thread_atexit_impl(void (*function)(void *), void *argument, void *dso);
int __cxa_thread_atexit_impl(void (*function)(void *), void *argument, void *dso)
{
    (void)dso;
    if (k.at_end_count == MZ_AT_END)
        mz_unsupported("more than 4096 thread-local objects", "use fewer objects");
    struct mz_thread *t = &rt.run.threads[rt.self];
    mz_keep(&k.at_end_count, sizeof k.at_end_count);
    struct mz_at_end *a = &k.at_end[k.at_end_count++];
    mz_keep_state(a, sizeof *a);
    mz_changed();
    *a = (struct mz_at_end){function, argument, t->at_end};
    t->at_end = a;
    return 0;
}

void mz_thread_objects_end(void)
{
    struct mz_thread *t = &rt.run.threads[rt.self];
    while (t->at_end) {
        struct mz_at_end *a = t->at_end;
        t->at_end = a->next;
        a->function(a->argument);
    }
}

void mz_keys_end(void)
{
    if (!rt.run.threads[rt.self].keys_set) return;
    for (int round = 0; round < ROUNDS; round++)
        if (!destroy_values()) return;
}

/* Calls f with each key that has a value in thread `slot`, and with the value: they are part of the state. */
void mz_keys_each(int slot, void (*f)(void *data, uint64_t word), void *data)
{
    for (uint32_t key = 0; key < MZ_KEYS; key++) {
        if (!k.values[slot][key]) continue;
        f(data, key);
        f(data, (uintptr_t)k.values[slot][key]);
    }
}
