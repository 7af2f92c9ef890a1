/* mazurka, the command: finds the sub-command and runs it. A link to it named mazurka-cc is `mazurka cc`. */
#include <stdio.h>
#include <string.h>
#include "../report/message.h"
#include "commands.h"
#include "files.h"
#include "help.h"
#include "process.h"
#include "suggest.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {{"check", mz_command_check}, {"cc", mz_command_cc},       {"replay", mz_command_replay},
                {"show", mz_command_show},   {"bench", mz_command_bench}, {"help", mz_command_help}};
#define COMMANDS (sizeof commands / sizeof *commands)

static int unknown(const char *word)
{
    const char *names[COMMANDS];
    for (size_t i = 0; i < COMMANDS; i++) names[i] = commands[i].name;
    const char *near = mz_suggest(word, names, COMMANDS);
    const char *dot = strrchr(word, '.');
    if (dot && !strcmp(dot, ".c")) return mz_fail("to check a file: mazurka check %s", word);
    if (near) return mz_fail("there is no command `%s`: did you mean `mazurka %s`?", word, near);
    return mz_fail("there is no command `%s`: see `mazurka help`", word);
}

int main(int argc, char **argv)
{
    mz_process_init();
    if (argc > 0 && !strcmp(mz_files_base(argv[0]), "mazurka-cc")) return mz_command_cc(argc, argv);
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
