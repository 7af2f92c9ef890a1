/* The sub-commands. Each takes its own words (argv[0] is its name) and returns the exit status. */
#ifndef MZ_CMD_COMMANDS_H
#define MZ_CMD_COMMANDS_H

int mz_command_check(int argc, char **argv);
int mz_command_cc(int argc, char **argv);
int mz_command_cxx(int argc, char **argv);
int mz_command_replay(int argc, char **argv);
int mz_command_show(int argc, char **argv);
int mz_command_bench(int argc, char **argv);
int mz_command_help(int argc, char **argv);

#endif
