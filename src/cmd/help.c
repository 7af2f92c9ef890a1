/* `mazurka help`: the help texts of the commands. options_help.c adds the lists of options. */
#include "cmd/help.h"

#include <stdio.h>
#include <string.h>
#include "base/message.h"
#include "cmd/commands.h"
#include "cmd/options.h"
#include "cmd/output.h"
#include "base/suggest.h"

static const char overview[] =
    "mazurka runs a multithreaded C or C++ program in every relevant interleaving of its\n"
    "threads. It either proves that this test has no assertion failure, deadlock,\n"
    "data race or crash, or shows the schedule that leads to one.\n"
    "\n"
    "  mazurka check [OPTIONS] FILE.c... [-- ARGS]  compile for checking, explore\n"
    "  mazurka check [OPTIONS] PROGRAM [-- ARGS]    one built with `mazurka cc`\n"
    "  mazurka cc ARGS...                           compiler: make CC=\"mazurka cc\"\n"
    "  mazurka c++ ARGS...                          the same for C++\n"
    "  mazurka replay TRACE                         run exactly that schedule again\n"
    "  mazurka show TRACE                           explain a schedule\n"
    "  mazurka bench [NAME...]                      the papers' experiments\n"
    "  mazurka help [COMMAND], mazurka --version\n"
    "\n"
    "Exit status of check: 0 verified, 1 error found, 2 could not be checked,\n"
    "3 incomplete (a limit was reached), 4 vacuous (nothing was really checked).\n"
    "\n"
    "Try:  mazurka check examples/NAME.c\n";

static const struct topic {
    const char *command;
    const char *text;
    enum mz_for options; /* 0: none */
} topics[] = {
    {"check",
     "mazurka check [OPTIONS] FILE.c... [-- ARGS]\n"
     "mazurka check [OPTIONS] PROGRAM [-- ARGS]\n"
     "\n"
     "Explores all interleavings of a program. C and C++ files are compiled first (-O1\n"
     "if no -O is given) and the result is kept in a cache; flags for the compiler\n"
     "such as -DN=4 -Idir -lm are passed on. A PROGRAM must have been built with\n"
     "`mazurka cc`. ARGS are the program's own. Options may also stand in\n"
     "MAZURKA_OPTIONS.\n"
     "\n",
     MZ_FOR_CHECK},
    {"cc",
     "mazurka cc ARGS...\n"
     "\n"
     "Takes the place of the C compiler: make CC=\"mazurka cc\", or with CMake\n"
     "-DCMAKE_C_COMPILER=mazurka-cc. It calls the compiler of MAZURKA_CC (default cc;\n"
     "gcc or clang) with your arguments, adds instrumentation when compiling and\n"
     "mazurka's library when linking. The program then runs as usual by itself, and\n"
     "`mazurka check PROGRAM` explores it. __MAZURKA__ is defined while compiling.\n"
     "\n"
     "Left out with a note: -fsanitize=thread, -flto. Refused: other sanitizers with\n"
     "memory of their own (address, leak, memory), -static, -m32.\n",
     0},
    {"c++",
     "mazurka c++ ARGS...\n"
     "\n"
     "The same as `mazurka cc` for C++: make CXX=\"mazurka c++\", or with CMake\n"
     "-DCMAKE_CXX_COMPILER=mazurka-c++. It calls the compiler of MAZURKA_CXX (default\n"
     "c++; g++ or clang++).\n",
     0},
    {"replay",
     "mazurka replay [OPTIONS] TRACE\n"
     "\n"
     "Runs exactly the schedule of a trace file again and reports. Exit status 1 if\n"
     "the same error came again, 2 if not, or if the program has changed since.\n"
     "A trace may come from anybody: the program is compiled with your compiler, and\n"
     "only with flags that neither run programs nor write files.\n"
     "\n",
     MZ_FOR_REPLAY},
    {"show",
     "mazurka show [OPTIONS] TRACE\n"
     "\n"
     "Explains the schedule of a trace file. Nothing is run: the file is enough.\n"
     "\n",
     MZ_FOR_SHOW},
    {"bench",
     "mazurka bench [OPTIONS] [NAME...]\n"
     "\n"
     "Repeats every experiment of the papers of 2005, 2007, 2008 and 2017, the paper's\n"
     "figure beside ours. NAME is an experiment, a table (2017-table3), a paper (2017)\n"
     "or another beginning of names; without one, all are measured. Works in a\n"
     "checkout of mazurka's source; needs python3. A finished row is kept and not\n"
     "measured again with the same build, so an interrupted run can go on.\n"
     "\n"
     "  --quick           Minutes (default): a short limit for each row; the longest\n"
     "                    rows are left out.\n"
     "  --full            Hours: ten minutes for each row, or 10^8 transitions.\n"
     "  --limit=S         Seconds for each row, instead of the usual limit.\n"
     "  --list            Print the names.\n"
     "  --kept            Measure nothing: show what earlier runs have measured.\n"
     "  --fresh           Measure again what earlier runs have measured.\n"
     "  --results=FILE    Where measurements are kept (build/bench-results.jsonl).\n"
     "  --no-peers        Leave out Nidhugg (nidhuggc) and GenMC (genmc), which are\n"
     "                    measured too if they are in PATH.\n"
     "  --json[=FILE]     Write everything as JSON to FILE, or to standard output in\n"
     "                    place of the text.\n"
     "  --html=FILE       Write one page with all tables and figures.\n",
     0},
    {"help", "mazurka help [COMMAND]\n\nExplains a command, or all of mazurka.\n", 0},
};
#define TOPICS (sizeof topics / sizeof *topics)

int mz_help(const char *command)
{
    const char *names[TOPICS];
    struct mz_strbuf out = {0};
    if (!command) mz_strbuf_add(&out, overview);
    for (size_t i = 0; command && i < TOPICS; i++) {
        names[i] = topics[i].command;
        if (strcmp(command, names[i]) != 0) continue;
        mz_strbuf_add(&out, topics[i].text);
        if (topics[i].options) mz_options_help(&out, topics[i].options);
    }
    if (out.length == 0) {
        const char *near = mz_suggest(command, names, TOPICS);
        if (near) return mz_fail("help: there is no command `%s`: did you mean %s?", command, near);
        return mz_fail("help: there is no command `%s`", command);
    }
    int status = mz_output_print(&out);
    mz_strbuf_release(&out);
    return status;
}

int mz_version(void)
{
    struct mz_strbuf out = {0};
    mz_strbuf_add(&out, "mazurka " MZ_VERSION "\n");
    int status = mz_output_print(&out);
    mz_strbuf_release(&out);
    return status;
}

/* Lists for other programs: for man/update.sh, and for `make install`. */
static int print_list(bool for_manual)
{
    struct mz_strbuf out = {0}, names = {0};
    for (size_t i = 0; i < TOPICS; i++) mz_strbuf_addf(&names, "%s%s", i ? " " : "", topics[i].command);
    if (for_manual)
        mz_options_man(&out);
    else
        mz_options_completion(&out, mz_strbuf_text(&names));
    int status = mz_output_print(&out);
    mz_strbuf_release(&names);
    mz_strbuf_release(&out);
    return status;
}

int mz_command_help(int argc, char **argv)
{
    if (argc > 2) return mz_fail("help: one command at a time");
    if (argc == 2 && !strcmp(argv[1], "--man-options")) return print_list(true);
    if (argc == 2 && !strcmp(argv[1], "--bash-completion")) return print_list(false);
    return mz_help(argc == 2 ? argv[1] : NULL);
}
