/* mazurka, the command: find the sub-command and run it. Links named mazurka-cc and mazurka-c++ mean `mazurka cc`
 * and `mazurka c++`; so does mazurka-cxx, for build systems that treat + specially. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "base/bug.h"
#include "base/files.h"
#include "base/message.h"
#include "build/command_line.h"
#include "cmd/commands.h"
#include "cmd/help.h"
#include "launch/process.h"
#include "base/suggest.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {{"check", mz_command_check},   {"cc", mz_command_cc},     {"c++", mz_command_cxx},
                {"replay", mz_command_replay}, {"show", mz_command_show}, {"bench", mz_command_bench},
                {"help", mz_command_help}};
#define COMMANDS (sizeof commands / sizeof *commands)

static int unknown(const char *word)
{
    const char *names[COMMANDS];
    for (size_t i = 0; i < COMMANDS; i++) names[i] = commands[i].name;
    const char *near = mz_suggest(word, names, COMMANDS);
    if (mz_cc_is_source_name(word)) return mz_fail("to check a file: mazurka check %s", word);
    if (near) return mz_fail("there is no command `%s`: did you mean `mazurka %s`?", word, near);
    return mz_fail("there is no command `%s`: see `mazurka help`", word);
}

/* The balancer uses parts of the engine, which need this function. */
_Noreturn void mz_bug(const char *file, int line, const char *what)
{
    mz_fail("internal error: %s:%d: %s", file, line, what);
    abort();
}

#define STACK (1u << 20) /* bytes: more than we and the libraries for debug information need */

/* The stack grows on demand, up to the limit at that time. */
static int look_at_stack(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) < 0 || limit.rlim_cur >= STACK) return 0;
    limit.rlim_cur = STACK;
    if (limit.rlim_max < STACK) limit.rlim_max = STACK; /* root may */
    if (setrlimit(RLIMIT_STACK, &limit) == 0) return 0;
    return mz_fail("a stack of less than 1 MiB is not supported: raise the limit (ulimit -s 8192)");
}

int main(int argc, char **argv)
{
    mz_process_init();
    if (look_at_stack() != 0) return MZ_STATUS_FAILED;
    const char *name = argc > 0 ? mz_files_base(argv[0]) : "";
    if (!strcmp(name, "mazurka-cc")) return mz_command_cc(argc, argv);
    if (!strcmp(name, "mazurka-c++") || !strcmp(name, "mazurka-cxx")) return mz_command_cxx(argc, argv);
    if (argc < 2) {
        mz_help(NULL);
        return MZ_STATUS_FAILED;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) return mz_help(NULL);
    if (!strcmp(argv[1], "--version")) return mz_version();
    for (size_t i = 0; i < COMMANDS; i++)
        if (!strcmp(argv[1], commands[i].name)) return commands[i].run(argc - 1, argv + 1);
    return unknown(argv[1]);
}
