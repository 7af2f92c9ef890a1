/* `mazurka cc`, `mazurka c++`: the compiler with our instrumentation.
 *
 * Compiling needs -fsanitize=thread, which makes the compiler call hooks. Linking must not have it, because the
 * compiler would link its own runtime. So a line that compiles and links at once is done in steps: compile each
 * source to an object in the temporary directory, then link the objects in place of the sources. All other lines are
 * passed on with flags added. */
#define _GNU_SOURCE
#include "build/cc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/files.h"
#include "base/memory.h"
#include "base/message.h"
#include "base/strbuf.h"
#include "launch/process.h"
#include "launch/tempdir.h"
#include "base/shell_words.h"

#define LONGEST_LINE (96 * 1024) /* bytes of arguments; longer lines go through an @file */

void mz_cc_flags_before(const struct mz_paths *paths, struct mz_list *to)
{
    mz_list_add(to, "-g");
    mz_list_add(to, "-D__MAZURKA__=1");
    mz_list_add(to, "-idirafter");
    mz_list_add(to, paths->include_dir);
}

void mz_cc_flags_behind(const struct mz_compiler *compiler, struct mz_list *to)
{
    mz_list_append(to, &compiler->instrument);
}

void mz_cc_flags_link(const struct mz_paths *paths, const struct mz_cc_line *line, struct mz_list *to)
{
    mz_list_add(to, "-pthread");
    /* Bind all symbols at the start: otherwise every execution would bind them again at their first use. */
    if (!line->shared) mz_list_add(to, "-Wl,-z,now");
    mz_list_add(to, "-Wl,--push-state,--no-as-needed");
    mz_list_add(to, paths->library);
    mz_list_add(to, "-Wl,--pop-state");
    mz_list_add(to, "-Xlinker");
    mz_list_add(to, "-rpath");
    mz_list_add(to, "-Xlinker");
    mz_list_add(to, paths->library_dir);
}

/* ---- running ---- */

/* Put all words except the compiler into an @file if the line is too long for exec. */
static int shorten(struct mz_list *argv, size_t compiler_words)
{
    static int files;
    struct mz_strbuf b = {0};
    size_t bytes = 0;
    for (size_t i = 0; i < argv->count; i++) bytes += strlen(argv->items[i]) + 1;
    if (bytes < LONGEST_LINE) return 0;
    const char *dir = mz_tempdir();
    if (!dir) return MZ_STATUS_FAILED;
    for (size_t i = compiler_words; i < argv->count; i++) {
        mz_words_quote_at_file(&b, argv->items[i]);
        mz_strbuf_addc(&b, '\n');
        free(argv->items[i]);
    }
    argv->count = compiler_words;
    char *path = mz_format("%s/words-%d", dir, files++);
    int status = mz_files_write(path, mz_strbuf_text(&b));
    if (status != 0) status = mz_fail("cannot write %s: %s", path, strerror(errno));
    mz_list_addf(argv, "@%s", path);
    free(path);
    mz_strbuf_release(&b);
    return status;
}

static int run(const struct mz_compiler *compiler, struct mz_list *argv)
{
    if (shorten(argv, compiler->words.count) != 0) return -1;
    struct mz_command command = {mz_list_argv(argv), -1, -1, -1, compiler->inputs};
    int status = mz_process_run(&command);
    if (status < 0 && !mz_process_stopped())
        mz_fail("cannot run the compiler `%s`: %s", compiler->setting, mz_reason(errno));
    return status;
}

/* ---- lines that need no steps ---- */

static bool has_assembly(const struct mz_cc_line *line)
{
    for (size_t i = 0; i < line->count; i++) {
        const struct mz_cc_word *w = &line->words[i];
        const char *dot = w->kind == MZ_CC_SOURCE ? strrchr(w->text, '.') : NULL;
        if (dot && (!strcmp(dot, ".s") || !strcmp(dot, ".S") || !strcmp(dot, ".sx"))) return true;
    }
    return false;
}

static int run_whole(const struct mz_compiler *compiler, const struct mz_paths *paths,
                     const struct mz_cc_line *line)
{
    struct mz_list argv = {0};
    bool link = line->stage == MZ_CC_LINK && !line->relocatable, compile = line->stage > MZ_CC_NOTHING;
    mz_list_append(&argv, &compiler->words);
    if (compile) mz_cc_flags_before(paths, &argv);
    if (compiler->clang && has_assembly(line))
        mz_list_add(&argv, "-Qunused-arguments"); /* our flags are for C and C++ */
    if (link) mz_cc_flags_link(paths, line, &argv);
    for (size_t i = 0; i < line->count; i++) mz_cc_line_append(&argv, &line->words[i]);
    if (compile && line->stage != MZ_CC_LINK) mz_cc_flags_behind(compiler, &argv);
    int status = run(compiler, &argv);
    mz_list_release(&argv);
    return status;
}

/* ---- compile and link at once ---- */

/* The file name without its ending, as a new string. */
static char *without_ending(const char *path)
{
    const char *dot = strrchr(mz_files_base(path), '.');
    return mz_memory_stringn(path, dot && dot > mz_files_base(path) ? (size_t)(dot - path) : strlen(path));
}

/* Set the file that -MD writes, and the target that it names, if the line does not: as gcc and clang do for a line
 * that also links. */
static void add_dependency_names(struct mz_list *argv, const struct mz_cc_line *line, const char *source)
{
    bool wanted = false, named = false;
    for (size_t i = 0; i < line->count; i++) {
        wanted = wanted || line->words[i].kind == MZ_CC_DEPENDENCY;
        named = named || line->words[i].kind == MZ_CC_DEPENDENCY_NAME;
    }
    if (!wanted || named) return;
    char *stem = without_ending(line->output ? line->output : mz_files_base(source));
    mz_list_add(argv, "-MF");
    if (line->output)
        mz_list_addf(argv, "%s.d", stem);
    else
        mz_list_addf(argv, "a-%s.d", stem);
    mz_list_add(argv, "-MT");
    if (line->output)
        mz_list_add(argv, line->output);
    else
        mz_list_addf(argv, "%s.o", stem);
    free(stem);
}

static bool is_for_compiling(const struct mz_cc_word *w)
{
    return w->kind == MZ_CC_FLAG || w->kind == MZ_CC_DEPENDENCY || w->kind == MZ_CC_DEPENDENCY_NAME;
}

static int compile_one(const struct mz_compiler *compiler, const struct mz_paths *paths,
                       const struct mz_cc_line *line, const struct mz_cc_word *source, const char *object)
{
    struct mz_list argv = {0};
    mz_list_append(&argv, &compiler->words);
    mz_cc_flags_before(paths, &argv);
    for (size_t i = 0; i < line->count; i++)
        if (is_for_compiling(&line->words[i]) && mz_cc_is_for(&line->words[i], source))
            mz_cc_line_append(&argv, &line->words[i]);
    add_dependency_names(&argv, line, source->text);
    mz_cc_flags_behind(compiler, &argv);
    if (compiler->clang)
        mz_list_add(&argv, "-Qunused-arguments"); /* a compilation does not use flags for the link */
    mz_list_add(&argv, "-gno-split-dwarf");       /* a .dwo beside a temporary object would be lost */
    mz_list_add(&argv, "-c");
    mz_list_add(&argv, "-o");
    mz_list_add(&argv, object);
    if (source->language) {
        mz_list_add(&argv, "-x");
        mz_list_add(&argv, source->language);
    }
    mz_list_add(&argv, source->text);
    int status = run(compiler, &argv);
    mz_list_release(&argv);
    return status;
}

static int link_objects(const struct mz_compiler *compiler, const struct mz_paths *paths,
                        const struct mz_cc_line *line, const struct mz_list *objects)
{
    struct mz_list argv = {0};
    size_t next = 0;
    mz_list_append(&argv, &compiler->words);
    if (compiler->clang) mz_list_add(&argv, "-Qunused-arguments");
    if (!line->relocatable) mz_cc_flags_link(paths, line, &argv);
    for (size_t i = 0; i < line->count; i++) {
        const struct mz_cc_word *w = &line->words[i];
        if (w->kind == MZ_CC_SOURCE)
            mz_list_add(&argv, objects->items[next++]);
        else if (w->kind != MZ_CC_LANGUAGE && w->kind != MZ_CC_DEPENDENCY && w->kind != MZ_CC_DEPENDENCY_NAME)
            mz_cc_line_append(&argv, w);
    }
    int status = run(compiler, &argv);
    mz_list_release(&argv);
    return status;
}

static int run_in_steps(const struct mz_compiler *compiler, const struct mz_paths *paths,
                        const struct mz_cc_line *line, const char **failed)
{
    struct mz_list objects = {0};
    const char *dir = mz_tempdir();
    int status = dir ? 0 : -1;
    for (size_t i = 0; status == 0 && i < line->count; i++) {
        if (line->words[i].kind != MZ_CC_SOURCE) continue;
        char *stem = without_ending(mz_files_base(line->words[i].text));
        mz_list_addf(&objects, "%s/%zu-%s.o", dir, i, stem);
        free(stem);
        status = compile_one(compiler, paths, line, &line->words[i], objects.items[objects.count - 1]);
        if (status != 0 && failed) *failed = line->words[i].text;
    }
    if (status == 0) status = link_objects(compiler, paths, line, &objects);
    mz_list_release(&objects);
    return status;
}

int mz_cc_run(const struct mz_compiler *compiler, const struct mz_paths *paths, const struct mz_cc_line *line,
              const char **failed)
{
    if (failed) *failed = NULL;
    if (line->stage == MZ_CC_LINK && line->sources > 0) return run_in_steps(compiler, paths, line, failed);
    return run_whole(compiler, paths, line);
}
