/* `mazurka cc`, `mazurka c++`: the compiler with our instrumentation. */
#include "cmd/commands.h"

#include "base/message.h"
#include "build/cc.h"
#include "launch/process.h"

static int compile(enum mz_language language, char **argv)
{
    struct mz_compiler compiler;
    struct mz_cc_line line;
    struct mz_paths paths;
    int status = mz_paths_find(&paths);
    if (status != 0) return status;
    status = mz_compiler_find(&compiler, language, NULL);
    if (status == 0) {
        status = mz_cc_line_parse(&line, argv + 1);
        if (status == 0) mz_cc_line_say_notes(&line);
        if (status == 0) status = mz_cc_run(&compiler, &paths, &line, NULL);
        if (status < 0) status = MZ_STATUS_FAILED;
        mz_cc_line_release(&line);
    }
    mz_compiler_release(&compiler);
    mz_process_die_if_stopped();
    return status;
}

int mz_command_cc(int argc, char **argv)
{
    if (argc < 2) return mz_fail("cc: no arguments; use `mazurka cc` like a compiler: mazurka cc -c file.c");
    return compile(MZ_C, argv);
}

int mz_command_cxx(int argc, char **argv)
{
    if (argc < 2)
        return mz_fail("c++: no arguments; use `mazurka c++` like a compiler: mazurka c++ -c file.cpp");
    return compile(MZ_CXX, argv);
}
