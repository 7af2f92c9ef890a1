/* Getting control before main.
 *
 * The program calls our __libc_start_main. It gives libc our_main in place of the program's main. our_main
 * maps the channel, sets everything up (phases.c) and explores. A program that is started without the command
 * runs only once, in the order of the first execution. */
#define _GNU_SOURCE
#include "runtime/core/start.h"
#include "runtime/core/runtime.h"
#include "runtime/hooks/imports.h"
#include "runtime/kernel/kernel.h"
#include "runtime/loops/loops.h"
#include "runtime/memory/memory.h"
#include "runtime/memory/races.h"
#include "runtime/rewind/rewind.h"
#include "runtime/state/hash.h"
#include "runtime/state/liveness.h"
#include "runtime/sync/sync.h"

static const struct mz_upcalls upcalls = {
    .halt = mz_halt,
    .path_diverged = mz_again_diverged,
    .fiber_main = mz_fiber_main,
    .worker_leaves = mz_worker_leaves,
    .describe = mz_memory_describe,
    .event_happened = mz_memory_check_event,
    .racing_locations = mz_visible_count,
    .maps_early = mz_maps_early,
    .object_holder = mz_object_holder,
    .object_size = mz_object_size,
    .keys_each = mz_keys_each,
    .keys_past = mz_keys_past,
    .await_look = mz_await_look,
    .step_limit = mz_rounds_step_limit,
    .too_many_threads = mz_spin_without_thread,
    .stack_lent = mz_lent_stack,
    .stack_clean = mz_spin_clean,
    .clean_size = mz_spin_clean_size,
    .import_called = mz_imports_called,
    .signal_point = mz_signal_point,
    .signal_interrupts_wait = mz_signal_interrupts_wait,
    .signal_point_volatile = mz_signal_point_volatile,
    .signals_spawn = mz_signals_spawn,
    .signal_end = mz_signal_end,
    .signals_abort = mz_signals_abort,
    .kernel_call = mz_kernel_call,
    .files_hide = mz_files_hide,
    .state_begin = mz_state_begin,
    .state_node = mz_state_node,
    .state_back = mz_state_back,
    .state_sample = mz_state_sample,
    .state_poison = mz_state_poison,
    .state_kept = mz_state_kept,
    .stack_poke = mz_stack_poke,
    .races_spawn = mz_races_spawn,
    .races_join = mz_races_join,
    .places_stale = mz_places_stale,
};

static void flush(void) { ((int (*)(void *))mz_next_symbol("fflush"))(NULL); }

/* Return the exit status of a program that was started without the command. Print its finding, if there is
 * one. */
static int end_standalone(void)
{
    const struct mz_finding *f = &rt.channel->findings[0];
    flush();
    if (!rt.channel->finding_count) return rt.run.exit_code;
    if (f->kind == MZ_KIND_EXIT_CODE) return f->code;
    mz_print("mazurka: ");
    mz_print(mz_kind_name((enum mz_kind)f->kind));
    mz_print(": ");
    mz_print(f->text);
    mz_print(" (mazurka check shows where and how)\n");
    return 1;
}

static int our_main(int argc, char **argv, char **envp)
{
    if (!mz_find_channel(envp)) {
        mz_print("mazurka: this program was built with another version of mazurka: build it again\n");
        return 2;
    }
    mz_hide_channel(envp);
    rt.argc = argc;
    rt.argv = argv;
    rt.envp = envp;
    mz_phases_run();
    mz_explore_program();
    if (rt.standalone) mz_quit(end_standalone());
    if (rt.channel->options.show_output) flush();
    mz_quit(0);
}

MZ_EXPORT int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
                                void (*fini)(void), void (*rtld_fini)(void), void *stack_end);
int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
    typedef int start_fn(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void),
                         void (*)(void), void *);
    rt.main = main;
    rt.up = upcalls;
    return ((start_fn *)mz_next_symbol("__libc_start_main"))(our_main, argc, argv, init, fini, rtld_fini,
                                                             stack_end);
}

MZ_EXPORT void __tsan_init(void);
void __tsan_init(void) {}
