/* `mazurka bench`: the papers' experiments, by the program bench/papers/main.py that comes with the source. This file
 * only starts it, with all arguments. */
#define _GNU_SOURCE
#include "cmd/commands.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "base/list.h"
#include "base/message.h"
#include "launch/paths.h"
#include "launch/process.h"

int mz_command_bench(int argc, char **argv)
{
    struct mz_paths paths;
    struct mz_list words = {0};
    int status = mz_paths_find(&paths);
    (void)argc;
    if (status != 0) return status;
    if (!paths.bench)
        return mz_fail("bench: the benchmarks are not installed: run `./mazurka bench` in a checkout of "
                       "mazurka's source "
                       "(bench/papers)");
    mz_list_add(&words, "python3");
    mz_list_add(&words, paths.bench);
    while (*++argv) mz_list_add(&words, *argv);
    mz_process_restore_signals();
    execvp("python3", mz_list_argv(&words));
    if (errno == ENOENT)
        return mz_fail("bench: python3 is not installed (Debian, Ubuntu: apt install python3)");
    return mz_fail("bench: cannot run python3: %s", strerror(errno));
}
