/* The table of options: the only place where an option is declared. The parser (options_parse.c), --help, the list of
 * the manual and the completion of bash (options_help.c) read it. The functions that store a value are in
 * option_values.c. */
#include "cmd/option_table.h"

#define ALL      (MZ_FOR_CHECK | MZ_FOR_REPLAY | MZ_FOR_SHOW)
#define FIELD(f) .field = offsetof(struct mz_settings, f)
#define WORDS(...)                                                                                           \
    .words = (const char *const[]) { __VA_ARGS__, NULL }

const struct mz_option mz_option_table[] = {
    {"algorithm", 0, MZ_TAKES_VALUE, "A", MZ_FOR_CHECK,
     "How to leave out equivalent interleavings: optimal (default: each class of executions exactly once), "
     "source, dpor, classic (2005, Fig. 5 to the letter), static (persistent sets from what each thread may "
     "still "
     "do, as 2005 compares with), sleep (none with sleep sets) or none. The stateful "
     "ones (sdpor, s-por, de-s-por, dl-s-por, "
     "stateful) explore no state twice: for programs with many interleavings but few states. portfolio runs "
     "s-por and dl-s-por side by side, the first to finish wins. To compare with: sdpor-initial and "
     "sdpor-naive "
     "(2008, section 4.2; sdpor-naive may miss executions).",
     .store = mz_option_algorithm, .words = mz_algorithm_words},
    {"strategy", 0, MZ_TAKES_VALUE, "S", MZ_FOR_CHECK,
     "Which executions to run. auto (default) explores all that --algorithm asks for; if that takes longer "
     "than a second, it shares the processors with stateful search, mix and --preemptions=auto, and the "
     "first answer "
     "counts. exhaustive does so alone. The others draw a sample, for programs with too many executions: "
     "random draws threads uniformly; pct:D (D = 3 if not given) finds a bug of depth D with at least the "
     "printed probability; pos draws priorities for operations; surw makes the orders of the accesses to one "
     "object equally likely; mix takes all of these in turn. A sample proves nothing: the verdict is "
     "incomplete at best, with the number of classes of executions that were met. Without a limit it ends "
     "after 10000 executions.",
     .store = mz_option_strategy, .words = mz_strategy_words},
    {"seed", 0, MZ_TAKES_VALUE, "N", MZ_FOR_CHECK,
     "With a sampling --strategy: draw the same executions as the run that printed this seed.",
     .store = mz_option_seed},
    {"preemptions", 0, MZ_TAKES_VALUE, "K|auto", MZ_FOR_CHECK,
     "Explore all executions with at most K preemptions (switches away from a thread that could go on), and "
     "no "
     "others: most bugs need few. auto: with 0, 1, 2 and so on, until a limit is reached or there are no "
     "more "
     "executions; --max-executions is for each K. The verdict is incomplete if something was left out.",
     .store = mz_option_bound},
    {"delays", 0, MZ_TAKES_VALUE, "K|auto", MZ_FOR_CHECK,
     "The same for delays: a scheduler runs each thread as long as it can go on, then the next one, and "
     "passes over "
     "at most K threads in an execution.",
     .store = mz_option_bound},
    {"sleep-sets", 0, MZ_TAKES_NOTHING, NULL, MZ_FOR_CHECK,
     "With none, static, classic and stateful: use sleep sets. With them, classic may miss executions.",
     .store = mz_option_sleep_sets},
    {"no-sleep-sets", 0, MZ_TAKES_NOTHING, NULL, MZ_FOR_CHECK, "With dpor: do not use sleep sets.",
     .store = mz_option_sleep_sets},
    {"stateful", 0, MZ_TAKES_NOTHING, NULL, MZ_FOR_CHECK,
     "With none and static: explore no state twice, as in the paper of 2005.", .store = mz_option_flag,
     FIELD(stateful)},
    {"persistent", 0, MZ_TAKES_VALUE, "none|static", MZ_FOR_CHECK,
     "With dpor --no-sleep-sets and classic: explore only threads of persistent sets, as --algorithm=static "
     "finds "
     "them (2005, end of section 3).",
     .store = mz_option_either, FIELD(persistent), WORDS("none", "static")},
    {"marks", 0, MZ_TAKES_NOTHING, NULL, MZ_FOR_CHECK,
     "With dpor --no-sleep-sets and classic: where a race asks for a thread that is not enabled, try one "
     "other thread "
     "first and not all (2005, end of section 3).",
     .store = mz_option_flag, FIELD(marks)},
    {"update", 0, MZ_TAKES_VALUE, "last|all", MZ_FOR_CHECK,
     "With dpor: which events get a backtracking point for what comes after them: the last that is in "
     "conflict with it (default), or all of them, as the distributed algorithm of 2007 has it.",
     .store = mz_option_either, FIELD(eager), WORDS("last", "all")},
    {"state-match", 0, MZ_TAKES_VALUE, "hash|exact", MZ_FOR_CHECK,
     "With a stateful algorithm: states are equal if their hashes of 128 bits are (default), or are kept and "
     "compared.",
     .store = mz_option_either, FIELD(exact_match), WORDS("hash", "exact"), .is_stateful = true},
    {"state-capture", 0, MZ_TAKES_VALUE, "exact|delta|always", MZ_FOR_CHECK,
     "With a stateful algorithm: local states of threads are captured as they are (default), or known by "
     "the changes that led to them, as in the paper of 2008, which finds fewer matches. always: exact, with "
     "all algorithms, to measure what it costs.",
     .store = mz_option_state_capture, FIELD(state_capture), WORDS("exact", "delta", "always")},
    {"order", 0, MZ_TAKES_VALUE, "O", MZ_FOR_CHECK,
     "Which thread to try first. All algorithms: sequential (the lowest number), random. Stateless ones: "
     "last-thread (default: the one that ran last while it can go on, else the lowest number), names (the "
     "same, else "
     "the first name as text, so that 0.10 comes before 0.2), round-robin (the number after that of the one "
     "that ran last), descending (the highest number); this changes only how many "
     "executions are blocked. Stateful ones: visited-first (one whose step leads to a known state; de-s-por "
     "and "
     "dl-s-por, which try the steps for that), learned (default: one that alone was enough in states before; "
     "de-s-por and dl-s-por, the others take the lowest number).",
     .store = mz_option_order, FIELD(order),
     WORDS("last-thread", "names", "round-robin", "descending", "sequential", "random", "visited-first",
           "learned")},
    {"order-seed", 0, MZ_TAKES_VALUE, "N", MZ_FOR_CHECK, "--order=random with this seed.",
     .store = mz_option_order_seed, FIELD(order)},
    {"data-races", 0, MZ_TAKES_VALUE, "error|allow", MZ_FOR_CHECK,
     "error (default): a data race is a bug, as in C11. allow: plain accesses are sequentially consistent; "
     "those that race, and all to volatile variables, become operations like atomic ones.",
     .store = mz_option_either, FIELD(allow_races), WORDS("error", "allow")},
    {"heap", 0, MZ_TAKES_VALUE, "fresh|reuse", MZ_FOR_CHECK,
     "fresh (default): no block of the heap is used twice in an execution, so every use after free is found. "
     "reuse: freed blocks are used again, the last one first, and the order of malloc and free is explored: "
     "for ABA bugs. A use after free of memory that has been handed out again is then not found.",
     .store = mz_option_either, FIELD(heap_reuse), WORDS("fresh", "reuse")},
    {"leaks", 0, MZ_TAKES_NOTHING, NULL, MZ_FOR_CHECK,
     "Blocks of the heap that nothing points to when the program ends are an error.", .store = mz_option_flag,
     FIELD(leaks)},
    {"spurious-wakeups", 0, MZ_TAKES_NOTHING, NULL, MZ_FOR_CHECK,
     "A wait on a condition variable may also end without a signal, as POSIX allows: for each thread at most "
     "3 "
     "times in a row at the same wait, and 8 times in an execution (stateful algorithms: any number of "
     "times).",
     .store = mz_option_flag, FIELD(spurious_wakeups)},
    {"backtrack", 0, MZ_TAKES_VALUE, "HOW", MZ_FOR_CHECK,
     "How to come to the next branch: undo (take back what was written since), checkpoint (the same, by "
     "comparing all memory that was ever written), rerun (run the program again from its start), or auto "
     "(default: what turns out to be faster). undo needs to know all that writes to memory: a program that "
     "calls other functions gets checkpoint instead.",
     .store = mz_option_word, FIELD(backtrack), WORDS("auto", "undo", "checkpoint", "rerun")},
    {"nondet-range", 0, MZ_TAKES_VALUE, "LO..HI", MZ_FOR_CHECK,
     "The numbers that __VERIFIER_nondet_int() and the like of SV-COMP stand for: all of them are tried.",
     .store = mz_option_nondet_range},
    {"keep-going", 0, MZ_TAKES_NOTHING, NULL, MZ_FOR_CHECK,
     "Continue after the first error and report each distinct error.", .store = mz_option_flag,
     FIELD(keep_going)},
    {"strict", 0, MZ_TAKES_NOTHING, NULL, MZ_FOR_CHECK,
     "If the search does not see something that the program does, the verdict is incomplete (status 3) "
     "instead of `verified, except: ...`.",
     .store = mz_option_flag, FIELD(strict)},
    {"max-steps", 0, MZ_TAKES_VALUE, "N", MZ_FOR_CHECK,
     "At most N visible operations in one execution (default 100000). After a longer one, or one that is "
     "much longer than the first, a stateless "
     "search starts over and follows endless loops for three rounds only; the verdict is at best incomplete.",
     .store = mz_option_max_steps},
    {"max-executions", 0, MZ_TAKES_VALUE, "N", MZ_FOR_CHECK,
     "Stop after N executions; with --resume, earlier ones count, too. The verdict is incomplete.",
     .store = mz_option_count, FIELD(max_executions)},
    {"time-limit", 0, MZ_TAKES_VALUE, "S", MZ_FOR_CHECK,
     "Stop after S seconds of searching; with --resume, only this run counts. The verdict is incomplete.",
     .store = mz_option_time_limit},
    {"memory-limit", 0, MZ_TAKES_VALUE, "M", MZ_FOR_CHECK,
     "The search itself (not the program) needs at most M MiB (K, M, G may be appended): when there is no "
     "more, optimal goes on as source, stateful algorithms forget states; where nothing can be given up, "
     "and with --checkpoint, the search stops, verdict incomplete.",
     .store = mz_option_memory_limit},
    {"jobs", 'j', MZ_TAKES_VALUE, "N", MZ_FOR_CHECK,
     "Explore with N worker processes (default 1). Stateful algorithms explore with one if --sleep-sets, "
     "--state-match=exact or --state-capture=delta is given, and so do static-stateful and portfolio.",
     .store = mz_option_jobs},
    {"json", 0, MZ_TAKES_MAYBE, "FILE", MZ_FOR_CHECK | MZ_FOR_REPLAY,
     "Write the result as JSON to FILE, or to standard output in place of the text.",
     .store = mz_option_output},
    {"sarif", 0, MZ_TAKES_VALUE, "FILE", MZ_FOR_CHECK, "Not supported yet.", .store = mz_option_not_yet},
    {"junit", 0, MZ_TAKES_VALUE, "FILE", MZ_FOR_CHECK, "Not supported yet.", .store = mz_option_not_yet},
    {"html", 0, MZ_TAKES_VALUE, "FILE", MZ_FOR_CHECK | MZ_FOR_SHOW, "Not supported yet.",
     .store = mz_option_not_yet},
    {"trace", 0, MZ_TAKES_VALUE, "FILE", MZ_FOR_CHECK,
     "Write the failing schedule to FILE (default: mazurka-NAME-N.trace here); further ones get .2, .3 "
     "appended.",
     .store = mz_option_file, FIELD(trace)},
    {"checkpoint", 0, MZ_TAKES_VALUE, "FILE", MZ_FOR_CHECK,
     "Write what is left of the search to FILE: every minute, when it is interrupted, when a limit is "
     "reached, and when it is complete. What is left of another search there, unless it ended with an error, "
     "is kept as FILE.old, or FILE.old.2 and so on; a file that is no checkpoint is not overwritten. Of a "
     "stateful search, FILE has the states that are finished. Not where -j is for one worker.",
     .store = mz_option_file, FIELD(checkpoint)},
    {"checkpoint-interval", 0, MZ_TAKES_VALUE, "S", MZ_FOR_CHECK, "Seconds between checkpoints (default 60).",
     .store = mz_option_checkpoint_interval},
    {"resume", 0, MZ_TAKES_VALUE, "FILE", MZ_FOR_CHECK,
     "Continue the search that wrote FILE: the program, arguments and options must be the same, except -j "
     "and limits.",
     .store = mz_option_file, FIELD(resume)},
    {"record-tree", 0, MZ_TAKES_VALUE, "FILE", MZ_FOR_CHECK,
     "Write the tree of all executions to FILE, for build/mz-simulate. With optimal, source or dpor.",
     .store = mz_option_file, FIELD(record_tree)},
    {"classes", 0, MZ_TAKES_VALUE, "FILE", MZ_FOR_CHECK,
     "Write the class of each complete execution to FILE as a line of text, to compare searches: equivalent "
     "executions have the same line. With optimal, source, dpor, sleep or none.",
     .store = mz_option_file, FIELD(classes)},
    {"count-sets", 0, MZ_TAKES_NOTHING, NULL, MZ_FOR_CHECK,
     "Count the sizes of the wakeup trees (optimal) or of the backtrack sets (other stateless algorithms): "
     "the largest and the mean, in the line about the search and in JSON. The search takes longer, and "
     "optimal "
     "does not go on as source when memory is short.",
     .store = mz_option_flag, FIELD(count_sets)},
    {"trust", 0, MZ_TAKES_NOTHING, NULL, MZ_FOR_REPLAY,
     "Compile as the trace says, with its compiler and all of its flags: that may run programs and write "
     "files.",
     .store = mz_option_flag, FIELD(trust)},
    {"gdb", 0, MZ_TAKES_NOTHING, NULL, MZ_FOR_REPLAY, "Not supported yet.", .store = mz_option_not_yet},
    {"quiet", 'q', MZ_TAKES_NOTHING, NULL, ALL, "Print the verdict's line only.", .store = mz_option_quiet},
    {"verbose", 0, MZ_TAKES_NOTHING, NULL, ALL,
     "Show the program's own output, and every operation of a long schedule.", .store = mz_option_verbose},
    {"color", 0, MZ_TAKES_VALUE, "WHEN", ALL,
     "Colours: auto (default: on a terminal, unless NO_COLOR is set, or under mpirun), always, never.",
     .store = mz_option_word, FIELD(color), WORDS("auto", "always", "never")},
    {"estimate", 0, MZ_TAKES_VALUE, "auto|never|only", MZ_FOR_CHECK,
     "Stateless algorithms with sleep sets: estimate how many executions the search will have. auto "
     "(default): after "
     "half a second, beside the search, with at most 4 % of its time. only: do not search, estimate until "
     "--time-limit (10 s) or --max-executions is reached; verdict incomplete.",
     .store = mz_option_word, FIELD(estimate), WORDS("auto", "never", "only")},
    {"progress", 0, MZ_TAKES_VALUE, "WHEN", MZ_FOR_CHECK,
     "Show progress on standard error: auto (default: a line on a terminal), always (lines in a log, "
     "too), never, or json: an object on each line, for other programs.",
     .store = mz_option_word, FIELD(progress), WORDS("auto", "always", "never", "json")},
    {"help", 'h', MZ_TAKES_NOTHING, NULL, ALL, "Show this.", .store = mz_option_flag, FIELD(help)},
    {"version", 0, MZ_TAKES_NOTHING, NULL, ALL, "Show the version.", .store = mz_option_flag, FIELD(version)},
};

const size_t mz_option_table_size = sizeof mz_option_table / sizeof *mz_option_table;
