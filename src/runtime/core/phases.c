/* The phases of starting: what each phase needs, and what it makes ready.
 *
 * start.c calls mz_phases_run before the first execution. It runs the table from top to bottom and asserts
 * that each phase finds ready what it needs. To add a phase, add a row. If other phases need its result, add
 * a name for the result to enum ready. After the snapshot, no phase may change program memory. After the
 * filter, the runtime sees every system call except its own. */
#include "runtime/core/load.h"
#include "runtime/core/room.h"
#include "runtime/core/start.h"
#include "runtime/hooks/imports.h"
#include "runtime/kernel/kernel.h"
#include "runtime/loops/loops.h"
#include "runtime/memory/memory.h"
#include "runtime/rewind/rewind.h"
#include "runtime/state/state.h"
#include "runtime/sync/sync.h"

/* ---- phases that no file owns ---- */

static void first_thread(void)
{
    rt.slots_known = rt.slots_named = 1;
    rt.channel->threads[0].used = 1;
    mz_text_copy(rt.channel->threads[0].name, sizeof rt.channel->threads[0].name, "0");
    if (rt.channel->options.mode == MZ_MODE_REPLAY) mz_slots_given();
}

static void our_compiler(void)
{
#ifdef MZ_NO_SPIN
    mz_spin_forbid("a compiler other than gcc, which mazurka was built with,");
#endif
}

/* Some code writes without a hook. So the runtime must compare memory to find what a thread changed. */
static void trust_no_hooks(void)
{
    rt.writes_unknown = true;
    mz_spin_forbid("code that writes without a hook");
}

static void decide_trust(void)
{
    const struct mz_options_block *o = &rt.channel->options;
    if (o->safe || (o->unseen_code && !o->trusting)) trust_no_hooks();
    rt.allow_races = o->allow_races;
}

static void start_exploration(void)
{
    const struct mz_options_block *o = &rt.channel->options;
    struct mz_explore_options options = {.algorithm = (enum mz_algorithm)o->algorithm,
                                         .strategy = (enum mz_strategy_kind)o->strategy,
                                         .strategy_depth = o->strategy_depth,
                                         .seed = o->seed,
                                         .sleep_sets = o->sleep_sets,
                                         .max_steps = o->max_steps,
                                         .memory_limit = o->memory_limit,
                                         .refresh = mz_refresh,
                                         .holds = mz_await_holds,
                                         .strict = o->strict,
                                         .order = (enum mz_order)o->order,
                                         .order_seed = o->order_seed};
    if (o->mode == MZ_MODE_REPLAY) {
        options.algorithm = MZ_ALG_NONE;
        options.strategy = MZ_STRATEGY_EXHAUSTIVE;
        options.sleep_sets = false;
        options.order =
            MZ_ORDER_LAST_THREAD; /* a trace does not say in which order the search tried threads */
        options.schedule = (const struct mz_step *)((char *)rt.channel + o->schedule_offset);
        options.schedule_length = o->schedule_length;
        rt.recording = rt.channel->records_capacity > 0;
        rt.once = true;
        rt.hashing = o->goes_round;
        if (mz_algorithm_is_stateful((enum mz_algorithm)o->algorithm))
            mz_spin_unneeded(); /* as in the search that made the schedule */
    }
    if (o->survey) {
        options.algorithm = MZ_ALG_NONE;
        options.sleep_sets = false;
        options.survey = o->survey;
        options.strategy = MZ_STRATEGY_EXHAUSTIVE;
    }
    rt.stateful = mz_algorithm_is_stateful(options.algorithm);
    rt.hashing |= rt.stateful || (o->state_capture == MZ_CAPTURE_ALWAYS && !rt.once);
    if (rt.stateful) {
        options.state = mz_state_of;
        options.endless = mz_finding_endless;
        options.check_states = o->check_states;
        options.state_is_unique = mz_state_is_unique;
        options.state_differs = mz_state_differs;
        options.state_outline = mz_state_outline;
        options.state_memory = mz_state_memory_of;
        if (o->exact_match) options.state_bytes = mz_state_bytes;
        if (options.sleep_sets) mz_unseen("livelocks (not looked for with states and sleep sets)");
        mz_spin_unneeded(); /* a waiting loop comes back to the same state */
    }
    rt.shared = o->shared;
    rt.checking = o->strict;
    if (rt.shared) options.share = &mz_worker_sharing;
    options.eager = o->eager;
    if (o->mode == MZ_MODE_EXPLORE) options.bound = (enum mz_bound)o->bound;
    options.bound_limit = o->bound_limit;
    options.persistent = o->persistent;
    options.marks = o->marks;
    options.count_sets = o->count_sets;
    options.region = mz_whole_object;
    options.thread_name = mz_thread_path;
    if (o->mode == MZ_MODE_EXPLORE && rt.channel->tree_file[0]) {
        if (o->classes)
            options.class_log = &mz_class_file;
        else
            options.tree_log = &mz_tree_file;
    }
    rt.x = mz_explore_new(&rt.view, &options);
    rt.path = (struct mz_path *)rt.x;
    rt.live = (struct mz_step *)((char *)rt.channel + rt.channel->live_offset);
    rt.channel->started = 1;
}

/* Tell reports what is at addresses outside of all modules. */
static void add_area(enum mz_area_kind kind, int slot, const void *start, const void *end)
{
    struct mz_channel *c = rt.channel;
    if (c->area_count == MZ_MAX_AREAS) return;
    c->areas[c->area_count++] = (struct mz_area){
        .start = (uintptr_t)start, .end = (uintptr_t)end, .kind = (uint8_t)kind, .thread = (uint8_t)slot};
}

static void describe_areas(void)
{
    for (int s = 0; s < MZ_SLOTS; s++) {
        const char *low, *high, *fs = (const char *)rt.slots[s].fs;
        mz_heap_arena(s, &low, &high);
        add_area(MZ_AREA_HEAP, s, low, high);
        add_area(MZ_AREA_STACK, s, rt.slots[s].stack_low, rt.slots[s].stack_high);
        add_area(MZ_AREA_TLS, s, fs - rt.tls_size, fs);
    }
}

static void start_worker(void)
{
    if (!rt.standalone) mz_worker_init();
}

/* ---- the table ---- */

enum ready {
    CHANNEL = 1 << 0,     /* rt.channel: options, and where findings go */
    THREADS = 1 << 1,     /* the number of main, and of the threads of a schedule */
    OURSELVES = 1 << 2,   /* address range of this library */
    RAW = 1 << 3,         /* memcpy and memset of libc */
    DESCRIPTORS = 1 << 4, /* the descriptors that are open at the start */
    MAPPINGS = 1 << 5,    /* address space for mmap */
    HEAP = 1 << 6,        /* arenas */
    FIBERS = 1 << 7,      /* stacks; the thread pointer of main */
    USES = 1 << 8,        /* rt.uses, rt.switch_fs, rt.switch_fp; the list of modules */
    STORAGE = 1 << 9,     /* thread-local storage of all slots */
    TRUST = 1 << 10,      /* rt.writes_unknown, rt.allow_races */
    BOOT = 1 << 11,       /* keys and handlers made by constructors are the first state of an execution */
    LOOKED_UP = 1 << 12,  /* functions of the unwinder: dlsym is not called after the snapshot */
    RACES = 1 << 13,      /* the C11 order, and the shadow */
    LOOPS = 1 << 14,      /* recognition of waiting loops */
    SIGNALS = 1 << 15,    /* the program's handlers and masks are known */
    HANDLERS = 1 << 16,   /* our signal handlers are installed */
    ENGINE = 1 << 17,     /* rt.x, rt.path */
    SNAPSHOT = 1 << 18,   /* program memory is saved and protected; rt.tls_size */
    WAYS_BACK = 1 << 19,  /* the undo log */
    STATES = 1 << 20,     /* the identity of states */
    MEMORY = 1 << 21,     /* tables of variables, functions and thread-local storage by address */
    WORKER = 1 << 22,     /* a part of a shared search */
    FILTER = 1 << 23,     /* the runtime sees system calls */
    GUARDED = 1 << 24,    /* checksum of our own memory */
};

static const struct phase {
    const char *name;
    void (*run)(void);
    unsigned needs, makes; /* enum ready */
} phases[] = {
    {"first thread", first_thread, CHANNEL, THREADS},
    {"ourselves", mz_modules_init, 0, OURSELVES},
    {"raw functions", mz_raw_init, 0, RAW},
    {"descriptors", mz_files_init, CHANNEL, DESCRIPTORS},
    {"mappings", mz_maps_init, CHANNEL, MAPPINGS},
    {"heap", mz_heap_init, 0, HEAP},
    {"fibers", mz_fiber_init, CHANNEL | RAW, FIBERS},
    {"our compiler", our_compiler, CHANNEL, 0},
    {"modules", mz_load_init, CHANNEL | OURSELVES | FIBERS, USES},
    {"stubs of imports", mz_imports_ready, USES, 0},
    {"thread-local storage", mz_fiber_storage, FIBERS | USES, STORAGE},
    {"trust in hooks", decide_trust, CHANNEL | USES, TRUST},
    {"keys", mz_keys_init, RAW, 0},
    {"C11 order", mz_sync_init, CHANNEL, 0},
    {"call stacks", mz_cxx_init, CHANNEL | USES, 0},
    {"cancellation", mz_cancel_init, 0, LOOKED_UP},
    {"shadow", mz_shadow_init, 0, RACES},
    {"loops", mz_spin_init, CHANNEL, LOOPS},
    {"signals", mz_signal_calls_init, FIBERS, SIGNALS},
    {"crashes", mz_signals_init, SIGNALS | LOOPS, HANDLERS},
    {"exit handlers", mz_exit_init, RAW | OURSELVES, BOOT},
    {"engine", start_exploration, CHANNEL | THREADS | TRUST | LOOPS, ENGINE},
    {"snapshot", mz_snapshot_init, RAW | MAPPINGS | HEAP | STORAGE | BOOT | LOOKED_UP | HANDLERS, SNAPSHOT},
    {"undo log", mz_undo_init, CHANNEL | SNAPSHOT, 0},
    {"audit", mz_audit_init, STORAGE | SNAPSHOT, 0},
    {"way to go back", mz_backtrack_init, ENGINE, WAYS_BACK},
    {"states", mz_state_init, CHANNEL | USES | STORAGE | ENGINE, STATES},
    {"range of thread-local storage", mz_fiber_tls_init, STORAGE | SNAPSHOT, 0},
    {"global variables", mz_globals_init, USES, MEMORY},
    {"leaks", mz_leaks_init, CHANNEL, 0},
    {"areas", describe_areas, CHANNEL | HEAP | FIBERS | STORAGE | SNAPSHOT, 0},
    {"worker", start_worker, CHANNEL | MAPPINGS | HEAP | FIBERS | ENGINE | SNAPSHOT, WORKER},
    {"filter", mz_kernel_init, OURSELVES | DESCRIPTORS | MAPPINGS | HANDLERS | SNAPSHOT | MEMORY | WORKER,
     FILTER},
    {"our own memory", mz_own_init, OURSELVES | ENGINE | RACES | WAYS_BACK | STATES | FILTER, GUARDED},
};

void mz_phases_run(void)
{
    unsigned ready = CHANNEL;
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++) {
        const struct phase *p = &phases[i];
        if ((p->needs & ~ready) || (p->makes & ready)) MZ_BUG(p->name);
        p->run();
        ready |= p->makes;
    }
}
