/* Thread-specific data, and what runs when a thread ends: destructors of thread-local C++ objects, then those
 * of keys.
 *
 * The number of a key depends only on the thread that made it and how many it had made before, like addresses
 * of the heap. Before main there is only the main thread; what it set then is there in every execution.
 *
 * None of this is an event. POSIX leaves undefined what happens to a key that is used after it was deleted:
 * that is a misuse. So is a use that is not ordered with the deletion, in whichever order they come in this
 * execution: of every key it is known when each thread used it last (in the C11 order), and when it was
 * deleted. A destructor that runs is a use, and so is one that does not run because of the deletion.
 *
 * Whether a deletion is ordered with the uses is decided by the past, like a data race. So for a stateful search
 * the uses and the deletion of a key are entries of the race history (race_history.c). Most keys are never deleted
 * while there are other threads and need none: a key is *watched* from its first such deletion on, and the search
 * starts over then. */
#define _GNU_SOURCE
#include "races.h"
#include "pthread_objects.h"

#include "../base/region.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>

#define KEYS       1024u
#define MAIN_KEYS  520u /* of the main thread; the others have 8 each */
#define OTHER_KEYS 8u
#define ROUNDS     PTHREAD_DESTRUCTOR_ITERATIONS
#define AT_END     4096u /* destructors of thread-local objects in one execution */

static struct {
    struct key { /* part of the state: at the start of an execution only those from before main are made */
        void (*destructor)(void *);
        uint32_t made, deleted;
    } keys[KEYS];
    struct {
        uint32_t epoch;
        uint8_t by;
    } deletions[KEYS];
    bool watched[KEYS];         /* kept */
    struct key boot[MAIN_KEYS]; /* at the start of main */
    void *first[KEYS];          /* values of the main thread at the start of main */
    uint32_t boot_keys;
    bool boot_values;
} k;

static void *values[MZ_SLOTS][KEYS];
static uint32_t used[KEYS][MZ_SLOTS];  /* the epoch of each thread when it used the key last; 0: never */
static uint32_t noted[KEYS][MZ_SLOTS]; /* of these, what is in the race history */

struct mz_at_end {
    void (*function)(void *);
    void *argument;
    struct mz_at_end *next;
};
static struct mz_at_end at_end[AT_END];
static uint32_t at_end_count, at_end_boot;
static struct mz_at_end *at_end_main; /* registered before main */

void mz_keys_init(void)
{
    mz_raw_memcpy(k.first, values[0], sizeof k.first);
    k.boot_keys = rt.run.threads[0].keys_made;
    k.boot_values = rt.run.threads[0].keys_set;
    mz_raw_memcpy(k.boot, k.keys, k.boot_keys * sizeof *k.keys);
    at_end_boot = at_end_count;
    at_end_main = rt.run.threads[0].at_end;
}

static uint32_t first_key(uint32_t slot) { return slot ? MAIN_KEYS + (slot - 1) * OTHER_KEYS : 0; }

void mz_keys_reset(void)
{
    for (uint32_t s = 0; s < rt.slots_known; s++) {
        const struct mz_thread *t = &rt.run.threads[s];
        if (t->keys_set) mz_raw_memset(values[s], 0, sizeof values[s]);
        mz_raw_memset(&k.keys[first_key(s)], 0, t->keys_made * sizeof *k.keys);
    }
    mz_raw_memcpy(k.keys, k.boot, k.boot_keys * sizeof *k.keys);
    if (k.boot_values) mz_raw_memcpy(values[0], k.first, sizeof k.first);
    mz_raw_memset(&at_end[at_end_boot], 0, (at_end_count - at_end_boot) * sizeof *at_end);
    at_end_count = at_end_boot;
}

static void forget_uses(uint32_t key)
{
    mz_raw_memset(used[key], 0, sizeof used[key]);
    mz_raw_memset(noted[key], 0, sizeof noted[key]);
}

/* After the state of threads was cleared. */
void mz_keys_begin(void)
{
    rt.run.threads[0].keys_made = k.boot_keys;
    rt.run.threads[0].keys_set = k.boot_values;
    rt.run.threads[0].at_end = at_end_main;
    for (uint32_t key = 0; key < k.boot_keys; key++) forget_uses(key);
}

static bool is_made(pthread_key_t key) { return key < KEYS && k.keys[key].made; }

static bool is_deleted(pthread_key_t key) { return k.keys[key].deleted; }

static bool ordered(int other, uint32_t epoch)
{
    return other == rt.self || epoch <= mz_sync_seen(rt.self, other);
}

static void check(pthread_key_t key)
{
    if (!is_made(key)) mz_misuse("use of a thread-specific key that was never created", NULL);
    if (is_deleted(key)) mz_misuse("use of a thread-specific key that was deleted", NULL);
}

/* ---- uses and deletions as a part of the state ---- */

/* The runtime's own memory, so no access of the program has this place. */
static uint64_t granule_of(pthread_key_t key) { return (uintptr_t)&k.keys[key] / 4; }

static void note(pthread_key_t key, uint32_t epoch, enum mz_race_kind kind, bool now)
{
    mz_races_entry(MZ_PLACE_FULL, rt.self, epoch, kind, granule_of(key), 1, now);
}

static void note_use(pthread_key_t key, uint32_t epoch)
{
    uint32_t *before = &noted[key][rt.self];
    if (!rt.stateful || !k.watched[key] || *before == epoch) return;
    if (*before) note(key, *before, MZ_PLAIN_READ, false);
    mz_keep(before, sizeof *before);
    *before = epoch;
    note(key, epoch, MZ_PLAIN_READ, true);
}

static void note_deletion(pthread_key_t key, uint32_t epoch)
{
    if (!rt.stateful) return;
    if (!k.watched[key] && !mz_alone(rt.self)) {
        k.watched[key] = true;
        mz_places_stale();
    }
    if (k.watched[key]) note(key, epoch, MZ_PLAIN_WRITE, true);
}

/* races.h */
void mz_keys_past(void (*f)(void *data, uint64_t granule, int thread, uint32_t epoch, enum mz_race_kind kind),
                  void *data)
{
    for (uint32_t key = 0; key < KEYS; key++) {
        if (!k.watched[key] || !k.keys[key].made) continue;
        for (uint32_t s = 0; s < rt.slots_known; s++)
            if (noted[key][s]) f(data, granule_of(key), (int)s, noted[key][s], MZ_PLAIN_READ);
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
    mz_keep(&used[key][rt.self], sizeof used[key][rt.self]);
    used[key][rt.self] = epoch;
    note_use(key, epoch);
}

MZ_EXPORT int pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
    struct mz_thread *t = &rt.run.threads[rt.self];
    uint32_t room = rt.self ? OTHER_KEYS : MAIN_KEYS;
    if (t->keys_made == room)
        mz_unsupported(rt.self ? "more than 8 keys made by a thread that is not the main thread"
                               : "more than 520 keys",
                       "make them in main, fewer of them");
    uint32_t number = first_key(rt.self) + t->keys_made++;
    mz_keep_state(&k.keys[number], sizeof k.keys[number]);
    mz_keep(used[number], sizeof used[number]);
    mz_keep(noted[number], sizeof noted[number]);
    mz_changed();
    k.keys[number] = (struct key){destructor, 1, 0};
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
        if (used[key][slot] && !ordered((int)slot, used[key][slot]))
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
    return key < KEYS ? values[rt.self][key] : NULL;
}

MZ_EXPORT int pthread_setspecific(pthread_key_t key, const void *value)
{
    use(key);
    if (key >= KEYS) return EINVAL;
    mz_keep(&values[rt.self][key], sizeof values[rt.self][key]);
    values[rt.self][key] = (void *)(uintptr_t)value;
    rt.run.threads[rt.self].keys_set = 1;
    mz_changed();
    return 0;
}

static bool destroy_values(void)
{
    bool any = false;
    for (uint32_t key = 0; key < KEYS; key++) {
        void *value = values[rt.self][key];
        if (!value || !k.keys[key].destructor) continue;
        if (is_deleted(key)) {
            if (!ordered(k.deletions[key].by, k.deletions[key].epoch))
                mz_misuse("a thread-specific key is deleted while a thread with a value ends", NULL);
            continue;
        }
        use(key);
        mz_keep(&values[rt.self][key], sizeof values[rt.self][key]);
        values[rt.self][key] = NULL;
        any = true;
        k.keys[key].destructor(value);
    }
    return any;
}

MZ_EXPORT int __cxa_thread_atexit_impl(void (*function)(void *), void *argument, void *dso);
int __cxa_thread_atexit_impl(void (*function)(void *), void *argument, void *dso)
{
    (void)dso;
    if (at_end_count == AT_END) mz_unsupported("more than 4096 thread-local objects", "use fewer");
    struct mz_thread *t = &rt.run.threads[rt.self];
    mz_keep(&at_end_count, sizeof at_end_count);
    struct mz_at_end *a = &at_end[at_end_count++];
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

/* The values of a thread, with their keys, for the identity of the state. */
void mz_keys_each(int slot, void (*f)(void *data, uint64_t word), void *data)
{
    for (uint32_t key = 0; key < KEYS; key++) {
        if (!values[slot][key]) continue;
        f(data, key);
        f(data, (uintptr_t)values[slot][key]);
    }
}
