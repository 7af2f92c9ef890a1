/* `mazurka check`: what to run. See check_internal.h. */
#define _GNU_SOURCE
#include "cmd/check_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/files.h"
#include "base/memory.h"
#include "build/build.h"
#include "build/command_line.h"

static bool is_option(const char *word) { return word[0] == '-' && word[1]; }

/* A single word that is neither a source nor a file for the linker is a program. */
static const char *given_program(const struct mz_list *words)
{
    static const char *const endings[] = {".o", ".a", ".so"};
    const char *word = words->count ? words->items[0] : NULL;
    if (words->count != 1 || is_option(word) || mz_cc_is_source_name(word)) return NULL;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t n = strlen(word), e = strlen(endings[i]);
        if (n > e && !strcmp(word + n - e, endings[i])) return word; /* mz_elf_check reports what is wrong */
    }
    return word;
}

static int mixed_words(const struct mz_list *words)
{
    const char *program = NULL;
    bool sources = false, flags = false;
    for (size_t i = 0; i < words->count; i++) {
        const char *word = words->items[i], *dot = strrchr(mz_files_base(word), '.');
        if (is_option(word)) {
            flags = true;
            i += mz_cc_takes_value(word);
        } else if (mz_cc_is_source_name(word)) {
            sources = true;
        } else if (!dot && word[0] != '@') {
            program = word;
        }
    }
    if (program && sources)
        return mz_fail("check: %s is no source file: give C or C++ files, or one program", program);
    if (program && flags)
        return mz_fail(
            "check: compiler flags make no sense for %s, which is built already (arguments of the program "
            "go behind --)",
            program);
    if (!sources) return mz_fail("check: no source file and no program given: mazurka check FILE.c");
    return 0;
}

/* With --data-races=allow the compiler must not move plain accesses out of loops: use -O0 unless the user asks for
 * an optimization. */
static void set_optimization(struct mz_settings *s)
{
    struct mz_list words = {0};
    mz_list_add(&words, "-O0");
    mz_list_append(&words, &s->words);
    mz_list_release(&s->words);
    s->words = words;
}

static int refuse_directory(const char *file)
{
    struct stat status;
    if (!file || stat(file, &status) != 0 || !S_ISDIR(status.st_mode)) return 0;
    return mz_fail("cannot write %s: it is a directory", file);
}

/* Refuse a directory now, not after the search. */
static int look_at_targets(struct mz_settings *s)
{
    for (int i = 0; mz_writers[i]; i++) {
        if (refuse_directory(s->output_files[i]) == 0) continue;
        free(s->output_files[i]); /* do not write the failure there either */
        s->output_files[i] = NULL;
        return MZ_STATUS_FAILED;
    }
    return refuse_directory(s->trace);
}

#define ADDRESSES                                                                                            \
    ((uint64_t)1                                                                                             \
     << 40) /* address space reserved for the program and for the search: far more than they use */

static int look_at_limits(void)
{
    struct rlimit addresses;
    if (getrlimit(RLIMIT_AS, &addresses) < 0 || addresses.rlim_cur >= ADDRESSES) return 0;
    return mz_fail("a limit of address space this low is not supported: raise it (ulimit -v unlimited); "
                   "--memory-limit is about memory");
}

int mz_check_prepare(struct mz_check *c)
{
    struct mz_recipe *r = &c->recipe;
    const char *given = given_program(&c->settings.words);
    if (look_at_targets(&c->settings) != 0 || look_at_limits() != 0) return MZ_STATUS_FAILED;
    if (c->settings.words.count == 0)
        return mz_fail("check: nothing to check: mazurka check FILE.c, or a program built with `mazurka cc`");
    int status = given ? 0 : mixed_words(&c->settings.words);
    if (!given && c->settings.allow_races) set_optimization(&c->settings);
    if (status == 0)
        status = given ? mz_build_take(given, &c->program) : mz_build(&c->settings.words, NULL, &c->program);
    if (status != 0) return status;
    r->directory = getcwd(NULL, 0);
    r->program = mz_memory_string(c->program.name);
    r->binary = given ? realpath(given, NULL) : NULL;
    r->compiler = mz_memory_string(c->program.compiler);
    if (!given) mz_list_append(&r->build, &c->settings.words);
    mz_list_append(&r->arguments, &c->settings.arguments);
    memcpy(r->identity, c->program.identity, sizeof r->identity);
    r->algorithm = mz_memory_string(c->settings.algorithm_name);
    r->allow_races = c->settings.allow_races;
    r->heap_reuse = c->settings.heap_reuse;
    r->leaks = c->settings.leaks;
    r->keep_going = c->settings.keep_going;
    r->spurious_wakeups = c->settings.spurious_wakeups;
    r->nondet_given = c->settings.nondet_given;
    r->nondet_low = c->settings.nondet_low;
    r->nondet_high = c->settings.nondet_high;
    r->max_steps = c->settings.max_steps;
    return 0;
}
