/* `mazurka bench`: the papers' benchmarks, by the script that comes with the source. */
#define _GNU_SOURCE
#include "commands.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "../report/list.h"
#include "../report/message.h"
#include "paths.h"
#include "process.h"

int mz_command_bench(int argc, char **argv)
{
    struct mz_paths paths;
    struct mz_list words = {0};
    int status = mz_paths_find(&paths);
    (void)argc;
    if (status != 0) return status;
    if (!paths.bench)
        return mz_fail(
            "bench: the benchmarks are not here: run `mazurka bench` from a checkout of mazurka's source "
            "(bench/run.sh)");
    mz_list_add(&words, "sh");
    mz_list_add(&words, paths.bench);
    while (*++argv) mz_list_add(&words, *argv);
    mz_process_restore_signals();
    execvp("sh", mz_list_argv(&words));
    return mz_fail("bench: cannot run sh: %s", strerror(errno));
}
